/* The version of the messages between a viewer in a frame and the page around it: docs/viewer-protocol.md. */

export const PROTOCOL = 1;
