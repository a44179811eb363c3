// How a line's amount, kind and explanation are shown.
import { useVisit, type Visit } from '../visit.js';
import { findTextKey } from '../texts.js';
import { explainLine, type ExplainedLine } from './explanation.js';

/** The bank's kinds of movements. Of others, the bank's own word is shown. */
export function nameOfType({ t }: Visit, typeName: string): string {
  const key = findTextKey(`line.type.${typeName}`);
  return key ? t(key) : typeName;
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
