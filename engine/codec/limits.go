package codec

// PayloadBytesMax bounds a payload, decoded or encoded, containers included.
const PayloadBytesMax = 64 << 20

// nestingMax bounds the nesting of a document, the document itself included.
const nestingMax = 128

// groupBytesMax bounds the payload bytes of one group: no column of it can hold
// more bytes or elements than its 32-bit offsets address.
const groupBytesMax = 1<<31 - 1
