// The keys that sign certificates, of the database itself: the service may run beside it. Give an
// auditor the id of a key by another way than the file of the certificates.
import type { Command } from 'commander';
import { openSecretBox } from '../../access/secrets/credentials-keys.service.js';
import { readSigningKeys, SigningKeys } from '../../access/secrets/signing-keys.service.js';
import type { Database } from '../../platform/postgres/database.service.js';
import { loadReencryptionSettings } from '../../platform/settings/config.js';
import { readEnvironment } from '../../platform/settings/environment.js';
import { encryptedColumns } from '../encrypted-columns.js';
import { withProgramDatabase } from '../program-database.js';
import { reports, type CommandResult } from './definition.js';

async function describe({ prisma }: Database): Promise<CommandResult> {
  const keys = await readSigningKeys(prisma);
  const lines = keys.map(({ id, createdAt, endorsement }) =>
    [id, createdAt.toISOString(), endorsement ? `endorsed by ${endorsement.by}` : ''].join('  '),
  );
  return { text: lines.map((line) => line.trimEnd()), json: { keys } };
}

export function signingKeysCommand(command: Command): void {
  const settings = () => loadReencryptionSettings(readEnvironment());
  const listing = command.command('list').description('Every key, the oldest first.');
  reports(listing, 'signing-keys list', () => withProgramDatabase(settings(), describe));
  const rotating = command
    .command('rotate')
    .description('Makes a key that signs from now on, and that the present one endorses.');
  reports(rotating, 'signing-keys rotate', () =>
    withProgramDatabase(settings(), async (database) => {
      const keys = new SigningKeys(await openSecretBox(database, settings(), encryptedColumns));
      await database.transaction((tx) => keys.rotate(tx));
      return describe(database);
    }),
  );
}
