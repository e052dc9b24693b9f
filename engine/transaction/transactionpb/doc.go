// Package transactionpb holds the encoded form of plans and impact reports,
// generated from transaction.proto. Encode it through engine/transaction only.
package transactionpb
