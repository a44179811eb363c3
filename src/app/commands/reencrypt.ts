// Encrypts every stored secret again that has another key than CREDENTIALS_KEY, beside the running
// service. It can be stopped at any moment and run again. The exit code is 0 when only the current
// key is still needed, and 1 otherwise.
import type { Command } from 'commander';
import {
  reencrypt,
  type ReencryptionProgress,
  type ReencryptionResult,
} from '../../access/secrets/credentials-keys.service.js';
import { loadReencryptionSettings } from '../../platform/settings/config.js';
import { readEnvironment } from '../../platform/settings/environment.js';
import { encryptedColumns } from '../encrypted-columns.js';
import { withProgramDatabase } from '../program-database.js';
import { note, reports } from './definition.js';

function noteProgress({ column, keyId, done, total }: ReencryptionProgress): void {
  note(`${column}: ${done} of ${total} values of the key ${keyId} are encrypted again`);
}

function describe({ currentId, others, unreadable }: ReencryptionResult): string[] {
  return [
    ...unreadable.map(
      ({ column, owner }) =>
        `A value of ${column} cannot be decrypted. It was changed or copied: ${owner}`,
    ),
    `CREDENTIALS_KEY is the key ${currentId}.`,
    ...others.map(({ keyId, values }) =>
      values === 0
        ? `The key ${keyId} of CREDENTIALS_OTHER_KEYS encrypts no value.`
        : `The key ${keyId} of CREDENTIALS_OTHER_KEYS still encrypts ${values} values: keep it.`,
    ),
  ];
}

export function reencryptCommand(command: Command): void {
  reports(command, 'reencrypt', async () => {
    let isStopped = false;
    for (const signal of ['SIGINT', 'SIGTERM'] as const)
      process.once(signal, () => {
        isStopped = true;
      });
    const settings = loadReencryptionSettings(readEnvironment());
    const result = await withProgramDatabase(settings, (database) =>
      reencrypt(database, settings, encryptedColumns, noteProgress, () => isStopped),
    );
    const isOk = result.others.every(({ values }) => values === 0);
    return { text: describe(result), json: result, isOk };
  });
}
