// The API references of docs/reference, as the linters of the field read them: nothing is found.
import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { describe, expect, it } from '@jest/globals';

const program = (path: string) => join(process.cwd(), 'node_modules', path);
const env = { ...process.env, REDOCLY_TELEMETRY: 'off', REDOCLY_SUPPRESS_UPDATE_NOTICE: 'true' };

/** What a linter prints; it fails where it finds something. */
async function lint(path: string, argv: string[]): Promise<string> {
  const options = { env, maxBuffer: 50_000_000 };
  const { stdout } = await promisify(execFile)(process.execPath, [program(path), ...argv], options);
  return stdout;
}

describe.each(['openapi.json', 'openapi-sandbox-bank.json'])('docs/reference/%s', (name) => {
  const path = join('docs/reference', name);

  it('follows what Redocly recommends', async () => {
    const argv = ['lint', path, '--extends=recommended', '--format=json'];
    const { totals } = JSON.parse(await lint('@redocly/cli/bin/cli.js', argv)) as {
      totals: object;
    };
    expect(totals).toEqual({ errors: 0, warnings: 0, ignored: 0 });
  }, 120_000);

  it('follows the rules of Spectral for OpenAPI', async () => {
    const argv = ['lint', path, '--ruleset=.spectral.json', '--fail-severity=hint'];
    expect(await lint('@stoplight/spectral-cli/dist/index.js', argv)).toContain('No results');
  }, 120_000);
});
