// Runs before each test file: loads the check of row types. A spec beside its source is pure and
// reads no rows, so it does not wait for the driver of PostgreSQL.
import { join, sep } from 'node:path';
import { expect } from '@jest/globals';

const sources = join(import.meta.dirname, '..', '..', 'src') + sep;
if (!expect.getState().testPath.startsWith(sources)) await import('./row-types.ts');
