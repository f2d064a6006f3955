/** SHA-256 of the parts, one after another; 32 bytes. The domain has no cryptography of its own. */
export type Sha256 = (...parts: ReadonlyArray<Uint8Array>) => Uint8Array
