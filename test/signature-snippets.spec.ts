// The code that the documentation offers to check a signature accepts what is genuine, and nothing
// else, in each language that this machine has.
import { spawnSync } from 'node:child_process';
import { describe, expect, it } from '@jest/globals';
import { Webhook } from 'standardwebhooks';
import { codeBlocks } from './support/docs-commands.js';

const page = 'docs/how-to/verify-signatures.md';
const secret = `whsec_${Buffer.from('a secret of thirty-two bytes. ok').toString('base64')}`;
const body = '{"type":"charge.paid","data":{"payer":"João"}}';

interface Language {
  name: string;
  program: string;
  run: (snippet: string, given: string) => string[];
}

const languages: Language[] = [
  {
    name: 'js',
    program: process.execPath,
    run: (snippet, given) => [
      '-e',
      `${snippet}; const [b, h, s] = ${given}; console.log(isGenuine(b, h, s) ? 'yes' : 'no')`,
    ],
  },
  {
    name: 'python',
    program: 'python3',
    run: (snippet, given) => [
      '-c',
      `${snippet}\nimport json\nb, h, s = json.loads(${JSON.stringify(given)})\n` +
        'print("yes" if is_genuine(b.encode(), h, s) else "no")',
    ],
  },
  {
    name: 'php',
    program: 'php',
    run: (snippet, given) => [
      '-r',
      `${snippet} [$b, $h, $s] = json_decode('${given}', true); ` +
        'echo is_genuine($b, $h, $s) ? "yes" : "no";',
    ],
  },
];

function signed(at: Date, by: string): Record<string, string> {
  return {
    'webhook-id': 'msg_1',
    'webhook-timestamp': String(Math.floor(at.getTime() / 1_000)),
    'webhook-signature': new Webhook(by).sign('msg_1', at, body),
  };
}

describe.each(languages)('the code in $name', ({ name, program, run }) => {
  const [snippet] = codeBlocks(page, name);
  const isThere = spawnSync(program, ['--version']).status === 0;
  const answer = (headers: Record<string, string>, of = body) => {
    const { stdout, stderr } = spawnSync(
      program,
      run(snippet?.text ?? '', JSON.stringify([of, headers, secret])),
      { encoding: 'utf8' },
    );
    return stdout.trim() || stderr;
  };
  const now = new Date();
  const genuine = signed(now, secret);
  const other = `whsec_${Buffer.from('another secret, of as many bytes').toString('base64')}`;

  (isThere ? it : it.skip)('accepts an event, also beside a signature by another secret', () => {
    expect(answer(genuine)).toBe('yes');
    const both = `${signed(now, other)['webhook-signature']} ${genuine['webhook-signature']}`;
    expect(answer({ ...genuine, 'webhook-signature': both })).toBe('yes');
  });

  (isThere ? it : it.skip)(
    'refuses another secret, other bytes, another id and an old time',
    () => {
      expect(answer(signed(now, other))).toBe('no');
      expect(answer(genuine, body.replace('paid', 'void'))).toBe('no');
      expect(answer({ ...genuine, 'webhook-id': 'msg_2' })).toBe('no');
      expect(answer(signed(new Date(now.getTime() - 600_000), secret))).toBe('no');
    },
  );

  it('has at most six lines', () => {
    expect(snippet?.text.trimEnd().split('\n').length).toBeLessThanOrEqual(6);
  });
});
