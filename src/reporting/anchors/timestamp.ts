// Requests and responses of a timestamp authority (RFC 3161), in DER.

/** SEQUENCE { 1, { { sha256, NULL }, hash }, nonce, certReq TRUE }. `nonce` has eight bytes. */
export function timestampRequest(hash: string, nonce: Uint8Array): Buffer {
  const [imprint, nonceText] = [hash, Buffer.from(nonce).toString('hex')];
  const algorithm = '300d06096086480165030402010500';
  return Buffer.from(
    `3043020101${`3031${algorithm}0420${imprint}`}${`0208${nonceText}`}0101ff`,
    'hex',
  );
}

/** Positive, and without a leading byte of zeros, as DER wants it. */
export function nonceOf(random: Uint8Array): Buffer {
  const nonce = Buffer.from(random.subarray(0, 8));
  nonce[0] = ((nonce[0] ?? 0) & 0x7f) | 0x40;
  return nonce;
}

/**
 * Whether the authority granted the request, for this hash and with this nonce. Its signature is
 * checked by `openssl ts -verify`: whom an auditor trusts is no decision of the service.
 */
export function isGranted(response: Buffer, hash: string, nonce: Uint8Array): boolean {
  const outer = contentAt(response, 0);
  const status = contentAt(response, contentAt(response, outer));
  const [tag, length, value] = response.subarray(status - 2, status + 1);
  return (
    tag === 0x02 &&
    length === 1 &&
    (value === 0 || value === 1) &&
    response.includes(Buffer.from(hash, 'hex')) &&
    response.includes(Buffer.concat([Buffer.of(2, 8), nonce]))
  );
}

/** Where the content of the element at `at` begins. */
function contentAt(bytes: Buffer, at: number): number {
  const length = bytes[at + 1] ?? 0;
  return at + 2 + (length > 0x80 ? length - 0x80 : 0);
}
