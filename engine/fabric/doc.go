// Package fabric is the verbs of RDMA and the hardware they cost.
package fabric
