// Package catalogpb holds the encoded form of replicated commands and snapshot
// records, generated from catalog.proto. Encode it through engine/catalog only:
// the encoding must be deterministic and unknown fields must be fatal.
package catalogpb
