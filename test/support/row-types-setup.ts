// Runs before each test file: a row that has not the type that the source declares fails the file.
import { afterAll } from '@jest/globals';
import { violations } from './row-types.js';

afterAll(() => {
  const found = new Set(violations.splice(0));
  if (found.size > 0) throw new Error([...found].join('\n'));
});
