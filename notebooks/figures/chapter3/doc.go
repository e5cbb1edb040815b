// Package chapter3 has the figures of chapter 3: key-value stores on RDMA and the learned cache XStore. Figures lists them. Files
// are by what is measured: systems beside each other, models without a run, top models, runs of XStore alone, runs over time.
// What is measured for its numbers was predicted before they were read, but for those of §3.2.
package chapter3
