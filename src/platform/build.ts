// Which build of the service this is.
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

const beside = (path: string) => new URL(path, import.meta.url);
const manifest = JSON.parse(readFileSync(beside('../../package.json'), 'utf8')) as Build;
/** Of the service's database. */
export const migrationsFolder = fileURLToPath(beside('../../prisma/service/migrations'));
/** The build writes it. */
const commitFile = beside('../commit');

export interface Build {
  version: string;
  /** Null where it is not known. */
  commit: string | null;
  /** The newest migration of the service's database that this build knows. */
  schema: string | null;
}

export const build: Build = {
  version: manifest.version,
  commit: (existsSync(commitFile) && readFileSync(commitFile, 'utf8').trim()) || null,
  schema:
    readdirSync(migrationsFolder)
      .filter((name) => /^\d/.test(name))
      .sort()
      .at(-1) ?? null,
};
