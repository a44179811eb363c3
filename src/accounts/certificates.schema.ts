// Certificates and keys in PEM form, as an operator hands them over: each must be readable, and the key must be
// that of the certificate, before anything is sent with them.
import { createPrivateKey, X509Certificate } from 'node:crypto';
import { text } from '../contract/wire.js';

const maxPemLength = 100_000;
const onePem = /-----BEGIN CERTIFICATE-----[\s\S]+?-----END CERTIFICATE-----/g;

export const certificatePem = text(maxPemLength).refine(
  isCertificates,
  'Must be one or more certificates in PEM form.',
);
export const privateKeyPem = text(maxPemLength).refine(
  isPrivateKey,
  'Must be a private key in PEM form, without a passphrase.',
);

/** Whether the key is that of the first certificate: the others are its chain. */
export function isPair(certificate: string, key: string): boolean {
  return new X509Certificate(certificate).checkPrivateKey(createPrivateKey(key));
}

function isCertificates(pem: string): boolean {
  const all = pem.match(onePem) ?? [];
  return all.length > 0 && all.every((one) => canBeRead(() => new X509Certificate(one)));
}

function isPrivateKey(pem: string): boolean {
  return pem.includes('-----BEGIN ') && canBeRead(() => createPrivateKey(pem));
}

/** Node.js tells by throwing alone, in words that may quote what it read. */
function canBeRead(read: () => unknown): boolean {
  try {
    read();
    return true;
  } catch {
    return false;
  }
}
