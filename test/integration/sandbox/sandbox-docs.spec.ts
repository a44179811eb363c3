// The sandbox's documentation is complete: every mode with its default, and every fault. The API
// reference has its endpoints.
import { readFileSync } from 'node:fs';
import { z } from 'zod';
import { stringifyJson } from '../../../src/platform/json/exact-json.js';
import { faultEndpoints, faultKinds } from '../../../src/sandbox/faults/fault.js';
import { modes, modesOfPreset } from '../../../src/sandbox/modes/modes.schema.js';

const page = readFileSync(
  new URL('../../../docs/reference/sandbox-bank.md', import.meta.url),
  'utf8',
);

it('names every mode with its values and its default', () => {
  const defaults = JSON.parse(stringifyJson(z.encode(modes, modesOfPreset.published))) as object;
  for (const [name, value] of Object.entries(defaults)) {
    const row = page.split('\n').find((line) => line.startsWith(`- \`${name}\``)) ?? '';
    expect(row).toContain(`\`${JSON.stringify(value).replaceAll('"', '')}\``);
    const schema: unknown = modes.shape[name as keyof typeof modes.shape];
    const values = schema instanceof z.ZodEnum ? schema.options : [];
    for (const option of values) expect(row).toContain(`\`${option}\``);
  }
});

it('names every fault and every endpoint that a fault can have', () => {
  for (const kind of faultKinds) expect(page).toMatch(new RegExp(`^- \`${kind}\``, 'm'));
  for (const endpoint of faultEndpoints) expect(page).toContain(`\`${endpoint}\``);
});
