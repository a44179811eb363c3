// The settings: each that is wrong, contradicts another, or is none, probably by a typing error.
import { loadSettings, settingSchemas, type Settings } from '../../platform/settings/config.js';
import {
  readEnvironment,
  secretSettings,
  SettingsError,
} from '../../platform/settings/environment.js';
import { failed, passed, type SetUpFinding } from './finding.js';

const advice = 'Correct it in the environment or in .env; .env.example explains each setting.';

/** Names with these beginnings are ours. Other programs read the other variables. */
const ownNames = /^(CONCILIA|BANK|SANDBOX|CREDENTIALS)_/;
/** A shorter name is similar to too many others: HOME to HOST. */
const minSimilarLength = 8;
const maxTypingErrors = 2;

/** `settings` is null where a start would refuse them. */
export function examineSettings(): { settings: Settings | null; findings: SetUpFinding[] } {
  const findings: SetUpFinding[] = [];
  let settings: Settings | null = null;
  try {
    const environment = readEnvironment();
    findings.push(...findUnknownNames(Object.keys(environment)));
    settings = loadSettings(environment);
  } catch (error) {
    if (!(error instanceof SettingsError)) throw error;
    findings.push(...error.problems.map((problem) => failed('settings', problem, advice)));
  }
  if (findings.length === 0) findings.push(passed('settings', 'All are valid.'));
  return { settings, findings };
}

export function findUnknownNames(given: readonly string[]): SetUpFinding[] {
  const known = [...Object.keys(settingSchemas), ...secretSettings.map((name) => `${name}_FILE`)];
  return given
    .filter((name) => !known.includes(name))
    .flatMap((name) => {
      const [nearest, errors] = known
        .map((one) => [one, distanceOf(one, name)] as const)
        .reduce((best, one) => (one[1] < best[1] ? one : best));
      const isSimilar = name.length >= minSimilarLength && errors <= maxTypingErrors;
      if (!isSimilar && !ownNames.test(name)) return [];
      const meant = isSimilar ? ` It may mean ${nearest}.` : '';
      return [failed('settings', `${name} is no setting, and has no effect.${meant}`, advice)];
    });
}

/** How many characters must be typed, left out or replaced to make one name of the other. */
function distanceOf(one: string, other: string): number {
  let row = Array.from({ length: other.length + 1 }, (_, index) => index);
  for (let i = 1; i <= one.length; i += 1) {
    const next = [i];
    for (let j = 1; j <= other.length; j += 1) {
      const replaced = (row[j - 1] ?? 0) + (one[i - 1] === other[j - 1] ? 0 : 1);
      next.push(Math.min(replaced, (row[j] ?? 0) + 1, (next[j - 1] ?? 0) + 1));
    }
    row = next;
  }
  return row[other.length] ?? 0;
}
