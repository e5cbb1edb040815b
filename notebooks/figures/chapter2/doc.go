// Package chapter2 has the figures of chapter 2: primitives of RDMA (§2.2), and remote persistent memory with its hints (§2.3).
// Figures lists them. There is a file for each figure, or for those that share a plan.
package chapter2
