// Throwaway certificates: an authority, a bank on loopback, and two clients of it.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';

export const tlsFile = (name: string) => join(import.meta.dirname, 'tls', name);
const read = (name: string) => readFileSync(tlsFile(name), 'utf8');

export const authority = read('ca.crt');
export const bankPair = { cert: read('bank.crt'), key: read('bank.key') };
export const clientOne = { certificate: read('client-one.crt'), key: read('client-one.key') };
export const clientTwo = { certificate: read('client-two.crt'), key: read('client-two.key') };
