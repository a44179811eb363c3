// This machine: the space under DATA_DIR, and the certificate files of the settings.
import { X509Certificate } from 'node:crypto';
import { existsSync } from 'node:fs';
import { readFile, statfs } from 'node:fs/promises';
import { dirname } from 'node:path';
import type { Settings } from '../../platform/settings/config.js';
import { failed, passed, warned, type SetUpFinding } from './finding.js';

const mebibyte = 1_048_576;
const dayMs = 86_400_000;
const warnDaysBefore = 30;

export async function examineDisk(
  { dataDir }: Settings,
  minFreeMib: number,
): Promise<SetUpFinding[]> {
  let folder = dataDir;
  while (!existsSync(folder)) folder = dirname(folder);
  const { bavail, bsize } = await statfs(folder);
  const freeMib = Math.floor((bavail * bsize) / mebibyte);
  const message = `${freeMib} MiB are free under DATA_DIR (${dataDir}).`;
  return freeMib < minFreeMib
    ? [failed('disk', message, `Free at least ${minFreeMib} MiB there, or move DATA_DIR.`)]
    : [passed('disk', message)];
}

export async function examineCertificates({ bank }: Settings): Promise<SetUpFinding[]> {
  const files = [
    ['BANK_CLIENT_CERTIFICATE_FILE', bank.clientCertificateFile, true],
    ['BANK_CA_FILE', bank.caFile, true],
    ['BANK_CLIENT_KEY_FILE', bank.clientKeyFile, false],
  ] as const;
  const found = await Promise.all(
    files.map(async ([setting, file, isCertificate]) =>
      file === null ? null : examineFile(setting, file, isCertificate),
    ),
  );
  return found.filter((finding) => finding !== null);
}

async function examineFile(
  setting: string,
  file: string,
  isCertificate: boolean,
): Promise<SetUpFinding | null> {
  try {
    const content = await readFile(file);
    if (!isCertificate) return null;
    const { validTo } = new X509Certificate(content);
    const days = Math.floor((Date.parse(validTo) - Date.now()) / dayMs);
    const message = `The certificate of ${setting} is valid until ${validTo}.`;
    if (days < 0) return failed('bank', message, 'Get a new certificate from the bank.');
    return days < warnDaysBefore
      ? warned('bank', message, 'Get a new certificate from the bank.')
      : passed('bank', message);
  } catch (error) {
    const { code = 'it is no certificate' } = error as { code?: string };
    const advice = `Set ${setting} to a PEM file that this process may read.`;
    return failed('bank', `${setting} cannot be read (${code}).`, advice);
  }
}
