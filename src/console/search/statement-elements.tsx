// How a line's amount, kind and explanation are shown.
import { useVisit, type Visit } from '../visit.js';
import { findTextKey } from '../texts.js';
import { explainLine, type ExplainedLine } from './explanation.js';

/** The bank's kinds of movements. Of others, the bank's own words are shown, but no code. */
export function nameOfType(
  { t }: Visit,
  { typeName, isCredit }: { typeName: string; isCredit: boolean },
): string {
  const key = findTextKey(`line.type.${typeName}`);
  if (key) return t(key);
  return /^\w+$/.test(typeName) ? t(isCredit ? 'line.otherCredit' : 'line.otherDebit') : typeName;
}

export function Why({ explained }: { explained: ExplainedLine }) {
  const visit = useVisit();
  return (
    <>
      {explainLine(explained, visit).map((sentence) => (
        <div>{sentence}</div>
      ))}
    </>
  );
}
