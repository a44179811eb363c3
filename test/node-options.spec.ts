// Whoever starts the service gets the same Node.js options, and the benchmarks measure with them.
import { readFileSync } from 'node:fs';
import { nodeOptions } from './support/concilia-process.js';

const read = (file: string) => readFileSync(new URL(`../${file}`, import.meta.url), 'utf8');

describe('the options of Node.js with which npm start runs the service', () => {
  it('size the young generation', () => {
    expect(nodeOptions).toEqual([expect.stringMatching(/^--max-semi-space-size=\d+$/)]);
  });

  it('are those of the image', () => {
    const [, command = '[]'] = /^CMD (.*)$/m.exec(read('Dockerfile')) ?? [];
    expect(JSON.parse(command)).toEqual(expect.arrayContaining(nodeOptions));
  });

  it('are those of the benchmarks', () => {
    const { scripts } = JSON.parse(read('package.json')) as { scripts: Record<string, string> };
    expect(scripts.bench).toBe(`node ${nodeOptions.join(' ')} scripts/bench.mjs`);
  });
});
