// How a line's amount, kind and explanation are shown.
import { Amount } from '../kit/elements.js';
import { Hint } from '../kit/layout.js';
import type { Visit } from '../requests.js';
import { findTextKey } from '../texts.js';
import { explainLine, type ExplainedLine } from './explanation.js';

/** Credit or debit in a word and by its sign, and not by colour. */
export function SignedAmount({
  visit: { t },
  line: { isCredit, amountCents },
}: {
  visit: Visit;
  line: { isCredit: boolean; amountCents: bigint };
}) {
  return (
    <>
      <Amount cents={isCredit ? amountCents : -amountCents} />
      <Hint isBlock>{t(isCredit ? 'line.credit' : 'line.debit')}</Hint>
    </>
  );
}

/** The bank's kinds of movements. Of others, the bank's own word is shown. */
export function nameOfType({ t }: Visit, typeName: string): string {
  const key = findTextKey(`line.type.${typeName}`);
  return key ? t(key) : typeName;
}

export function Why({ visit, explained }: { visit: Visit; explained: ExplainedLine }) {
  return (
    <>
      {explainLine(explained, visit).map((sentence) => (
        <div>{sentence}</div>
      ))}
    </>
  );
}
