// The program of `npm run reencrypt`: encrypts every stored secret again that has another key than
// CREDENTIALS_KEY, beside the running service. It can be stopped at any moment and run again. The
// exit code is 0 when only the current key is still needed, and 1 otherwise.
import { loadReencryptionSettings, readEnvironment } from '../platform/settings/config.js';
import { encryptedColumns } from './encrypted-columns.js';
import { exitWith } from './exit.js';
import { withProgramDatabase } from './program-database.js';
import {
  reencrypt,
  type ReencryptionProgress,
  type ReencryptionResult,
} from '../access/secrets/credentials-keys.service.js';

const print = (message: string) => process.stdout.write(`${message}\n`);

function printProgress({ column, keyId, done, total }: ReencryptionProgress): void {
  print(`${column}: ${done} of ${total} values of the key ${keyId} are encrypted again`);
}

/** True when only the current key is still needed. */
function printResult({ currentId, others, unreadable }: ReencryptionResult): boolean {
  for (const { column, owner } of unreadable)
    print(`A value of ${column} cannot be decrypted. It was changed or copied: ${owner}`);
  print(`CREDENTIALS_KEY is the key ${currentId}.`);
  for (const { keyId, values } of others)
    print(
      values === 0
        ? `The key ${keyId} of CREDENTIALS_OTHER_KEYS encrypts no value.`
        : `The key ${keyId} of CREDENTIALS_OTHER_KEYS still encrypts ${values} values: keep it.`,
    );
  return others.every(({ values }) => values === 0);
}

let isStopped = false;
for (const signal of ['SIGINT', 'SIGTERM'] as const)
  process.once(signal, () => {
    isStopped = true;
  });

try {
  const settings = loadReencryptionSettings(readEnvironment());
  const result = await withProgramDatabase(settings, (database) =>
    reencrypt(database, settings, encryptedColumns, printProgress, () => isStopped),
  );
  if (!printResult(result)) process.exitCode = 1;
} catch (error) {
  exitWith(error);
}
