// Certificates and private keys in PEM form, as an operator submits them. Each must be readable
// before it is stored.
import { createPrivateKey, X509Certificate } from 'node:crypto';
import { failing } from '../../bank-contract/field-errors.js';
import { text } from '../../bank-contract/wire.js';

/** A chain of a dozen certificates. */
const maxPemLength = 32_768;
const certificateBlock = /-----BEGIN CERTIFICATE-----[\s\S]+?-----END CERTIFICATE-----/g;

export const certificatePem = text(maxPemLength).refine(isCertificates, failing('certificates'));
export const privateKeyPem = text(maxPemLength).refine(isPrivateKey, failing('private_key'));

/** Whether the key belongs to the first certificate; the other certificates are its chain. */
export function isKeyOfCertificate(certificate: string, key: string): boolean {
  return new X509Certificate(certificate).checkPrivateKey(createPrivateKey(key));
}

function isCertificates(pem: string): boolean {
  const blocks = pem.match(certificateBlock) ?? [];
  return blocks.length > 0 && blocks.every((block) => parses(() => new X509Certificate(block)));
}

function isPrivateKey(pem: string): boolean {
  return pem.includes('-----BEGIN ') && parses(() => createPrivateKey(pem));
}

/**
 * Node.js reports an unreadable text only by an exception. The exception is dropped, because its
 * message may quote the secret.
 */
function parses(read: () => unknown): boolean {
  try {
    read();
    return true;
  } catch {
    return false;
  }
}
