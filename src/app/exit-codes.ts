// The exit codes of every command, for programs that run `concilia`, and the sentences by which
// `--help` and the documentation explain them. This file imports nothing: `--help` loads it.

/** `tryAgain` is EX_TEMPFAIL of sysexits: nothing is wrong, and another try may succeed. */
export const exitCodes = { done: 0, failed: 1, wrongUsage: 2, tryAgain: 75 } as const;

/**
 * What each of them says. A command that only examines something fails where that is wrong.
 */
const meanings: Record<keyof typeof exitCodes, string> = {
  done: 'done, and nothing is wrong',
  failed: 'failed, or what was examined is wrong',
  wrongUsage: 'wrong usage: nothing was begun',
  tryAgain: 'a lock was not available in time: try again',
};

/** For `--help`: one line a code, in ascending order. */
export function describeExitCodes(): string[] {
  const names = Object.keys(exitCodes) as (keyof typeof exitCodes)[];
  return names.map((name) => `${String(exitCodes[name]).padStart(4)}  ${meanings[name]}`);
}
