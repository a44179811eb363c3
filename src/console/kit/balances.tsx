// What the balance is, of when and by whom; loudly where two facts contradict each other. It stands
// wherever a page shows a balance.
import type { Balances } from '../balances.queries.js';
import { formatAmount } from '../formats.js';
import { useVisit, type Visit } from '../visit.js';
import { Message, Muted } from './elements.js';

export function BalanceNotice({
  balances,
  isDoubtOnly = false,
}: {
  balances: Balances;
  /** Where the page itself says what the balance is. */
  isDoubtOnly?: boolean;
}) {
  const visit = useVisit();
  const { t, to } = visit;
  const doubts = [
    balances.bank?.agrees === false && {
      ...{ text: balanceText(visit, balances), page: 'breaks?kind=balance_mismatch' },
    },
    balances.isBroken && {
      ...{ text: t('balance.broken'), page: 'breaks?kind=broken_balance_chain' },
    },
  ].filter((doubt) => doubt !== false);
  if (doubts.length === 0)
    return isDoubtOnly ? null : <Muted>{balanceText(visit, balances)}</Muted>;
  return (
    <Message kind="bad">
      {doubts.map(({ text, page }) => (
        <div>
          {text} <a href={to(page)}>{t('balance.see')}</a>
        </div>
      ))}
    </Message>
  );
}

/** Both balances in one sentence, each with of when it is. */
function balanceText({ t, time }: Visit, { statement, bank }: Balances): string {
  if (statement.cents === null) return t('money.noBalance');
  const own = { amount: formatAmount(statement.cents), at: time(statement.at) };
  if (bank === null) return t('balance.statement', own);
  const values = {
    ...{ ...own, bank: formatAmount(bank.amountCents), bankAt: time(bank.at) },
    difference: formatAmount(bank.amountCents - statement.cents),
  };
  if (bank.agrees === null) return t('balance.notCompared', values);
  return t(bank.agrees ? 'balance.agrees' : 'balance.differs', values);
}
