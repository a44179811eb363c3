// Asks once more before money moves: whom it goes to in the largest words, then how much, what the
// account has afterwards, and who asks for it. The form carries what the person has seen: nothing
// moves without it, and where a fact has changed meanwhile the page says which.
import type { ComponentChildren } from 'preact';
import type { PaymentParty } from '../../access/counterparties/party.js';
import type { Cents } from '../../brazil/cents.js';
import { conflict, type AppError } from '../../platform/errors.js';
import { formatAmount, formatCount, writeTaxId } from '../formats.js';
import type { Balances } from '../balances.queries.js';
import type { Asked } from '../money-facts.service.js';
import { useVisit, type Visit } from '../visit.js';
import { findTextKey, type TextKey, type Translate } from '../texts.js';
import { BalanceNotice } from './balances.js';
import { Amount, Card, NamedValues, Message, Hint, Row } from './elements.js';
import { Fields, Hidden, Form, type FormFields, type HiddenValues } from './form.js';
import { ListTable } from './table.js';

export interface MoneyPayee {
  party: PaymentParty;
  /** A Pix key, or the code of a bill. */
  key?: string | null;
  amountCents: Cents;
  asked: Asked;
  /** What is not known of it, and why. */
  note?: string;
  /** Where the payment has a page of its own. */
  href?: string;
}

/** What is about to move. */
export interface Money {
  /** Those that the page shows; none where no money moves. */
  payees: readonly MoneyPayee[];
  /** How many payments there are, where they are more. */
  count?: number;
  totalCents: Cents;
  /** What else may change between the pages. */
  facts?: readonly (readonly [TextKey, string])[];
}

interface ConfirmMoneyProps {
  money: Money;
  action: string;
  /** What is done, with `amount` and `payee` or `count`. */
  button: { one: TextKey; many?: TextKey };
  /** None where no money leaves the account. */
  balances?: Balances;
  /** What cannot be undone. */
  warning: TextKey;
  /** What the audit records that the person has seen. */
  shown?: string;
  hidden?: HiddenValues;
  /** What a refusal makes the form ask. */
  fields?: FormFields;
  problem?: AppError | null;
  /** The way back. */
  back: { href: string; text: TextKey };
  children?: ComponentChildren;
}

export function ConfirmMoney(props: ConfirmMoneyProps) {
  const { money, action, warning, shown, hidden = {}, fields = {}, back, children } = props;
  const visit = useVisit();
  const { t } = visit;
  return (
    <Card title={t('word.confirm')}>
      <div class="money">
        <Changes money={money} />
        {money.payees.length > 0 && <MoneySummary {...props} />}
        <p>{t(warning)}</p>
        {children}
        <Form action={action} {...(shown === undefined ? {} : { shown })}>
          <Hidden values={{ ...hidden, seen: seenOf(money) }} />
          <Fields fields={fields} problem={props.problem ?? null} />
          <Row>
            <button>{buttonText(visit, props)}</button>
            <a href={back.href}>{t(back.text)}</a>
          </Row>
        </Form>
      </div>
    </Card>
  );
}

type SummaryProps = Pick<ConfirmMoneyProps, 'money' | 'balances'>;

function MoneySummary(props: SummaryProps) {
  return (
    <>
      <Payees {...props} />
      <MoneyFactList {...props} />
      {props.balances && <BalanceNotice balances={props.balances} isDoubtOnly />}
    </>
  );
}

/** What would move, where the form that does it brings a file. */
export function MoneyCard({ title, ...props }: SummaryProps & { title: TextKey }) {
  return (
    <Card title={useVisit().t(title)}>
      <div class="money">
        <MoneySummary {...props} />
      </div>
    </Card>
  );
}

/** Whether the person has confirmed exactly this. */
export function isConfirmed({ form }: Visit, money: Money): boolean {
  return seenOf(money).join('\n') === form.getAll('seen').join('\n');
}

/** Why a form that confirms something else is shown again. */
export function factsChanged(): AppError {
  return conflict('facts_changed', 'Something has changed since the page was shown.');
}

export function hasChanged({ details }: AppError): boolean {
  return details.reason === 'facts_changed';
}

/** Each fact as `key text`. */
function seenOf(money: Money): string[] {
  const { payees, totalCents, facts = [] } = money;
  const [first] = payees;
  const isOne = countOf(money) === 1 && first;
  return [
    isOne
      ? (['money.payee', partsOf(first).join(' · ')] as const)
      : (['word.payments', formatCount(countOf(money))] as const),
    ['word.amount', formatAmount(totalCents)] as const,
    ...facts,
  ].map(([key, text]) => `${key} ${text}`.replace(/\p{Cc}/gu, ' '));
}

const countOf = ({ payees, count = payees.length }: Money) => count;

/** What is not as it was when the person saw it. */
function Changes({ money }: { money: Money }) {
  const { t, form } = useVisit();
  const seen = new Map(form.getAll('seen').map(split));
  const changes = seenOf(money)
    .map(split)
    .filter(([key, now]) => seen.has(key) && seen.get(key) !== now);
  if (changes.length === 0) return null;
  return (
    <Message kind="warn">
      {t('money.changed')}
      <ul>
        {changes.map(([key, now]) => (
          <li>{t('money.change', { name: nameOf(t, key), before: seen.get(key) ?? '', now })}</li>
        ))}
      </ul>
    </Message>
  );
}

function split(seen: string): readonly [key: string, text: string] {
  const at = seen.indexOf(' ');
  return [seen.slice(0, at), seen.slice(at + 1)];
}

function nameOf(t: Translate, key: string): string {
  const known = findTextKey(key);
  return known ? t(known) : key;
}

function partsOf({ party, key }: MoneyPayee): string[] {
  const { name, taxId, ispb, branch, account } = party;
  return [name, taxId, ispb, branch, account, key ?? null].filter((one) => one !== null);
}

/** Names and numbers of one payee, as exactly as they are known. */
function payeeFacts(
  { t }: Visit,
  { party, key }: Pick<MoneyPayee, 'party' | 'key'>,
): (readonly [string, string])[] {
  const { taxId, ispb, branch, account } = party;
  const facts: (readonly [TextKey, string | null | undefined])[] = [
    ['word.taxId', writeTaxId(taxId)],
    ['word.institution', ispb],
    ['word.branch', branch],
    ['word.account', account],
    ['money.key', key],
  ];
  return facts.flatMap(([label, text]) => (text ? [[t(label), text] as const] : []));
}

function Payees({ money }: { money: Money }) {
  const visit = useVisit();
  const [first] = money.payees;
  if (first && countOf(money) === 1)
    return (
      <div class="payee">
        <strong>{first.party.name ?? visit.t('money.unnamed')}</strong>
        <NamedValues facts={payeeFacts(visit, first)} />
        {first.note && <Hint isBlock>{first.note}</Hint>}
      </div>
    );
  return (
    <ListTable
      {...{ name: 'money.payees', rows: money.payees }}
      columns={{
        'money.payee': { wide: (payee) => <NamedPayee payee={payee} /> },
        'word.requestedBy': { wide: ({ asked }) => askedText(visit, asked) },
        'word.amount': { cents: ({ amountCents }) => amountCents },
      }}
    />
  );
}

function NamedPayee({ payee }: { payee: MoneyPayee }) {
  const visit = useVisit();
  const name = payee.party.name ?? visit.t('money.unnamed');
  const facts = payeeFacts(visit, payee).map(([label, text]) => `${label} ${text}`);
  return (
    <>
      <strong>{payee.href ? <a href={payee.href}>{name}</a> : name}</strong>
      <div>{facts.join(' · ')}</div>
      {payee.note && <Hint isBlock>{payee.note}</Hint>}
    </>
  );
}

/** The newest of what the bank has reported and what the statement says; null before both. */
function newestOf({ statement, bank }: Balances): { cents: Cents; at: Date } | null {
  const known = [{ cents: bank?.amountCents, at: bank?.at }, statement].filter(
    (one): one is { cents: Cents; at: Date } => typeof one.cents === 'bigint' && one.at !== null,
  );
  return known.sort((one, other) => Number(other.at) - Number(one.at))[0] ?? null;
}

function MoneyFactList({ money, balances: known }: SummaryProps) {
  const visit = useVisit();
  const { t, time } = visit;
  const { totalCents, facts = [], payees } = money;
  const [first] = payees;
  const count = countOf(money);
  const total = count === 1 ? t('word.amount') : t('money.total', { count: formatCount(count) });
  const balance = known && newestOf(known);
  const balances: (readonly [string, ComponentChildren])[] =
    balance === undefined
      ? []
      : balance === null
        ? [[t('word.balanceAfter'), t('money.noBalance')]]
        : [
            [t('money.balance', { at: time(balance.at) }), <Amount cents={balance.cents} />],
            [t('word.balanceAfter'), <Amount cents={balance.cents - totalCents} />],
          ];
  return (
    <NamedValues
      facts={[
        [
          total,
          <strong>
            <Amount cents={totalCents} />
          </strong>,
        ],
        ...facts.map(([key, text]) => [t(key), text] as const),
        ...balances,
        ...(count === 1 && first
          ? [[t('word.requestedBy'), askedText(visit, first.asked)] as const]
          : []),
      ]}
    />
  );
}

function askedText({ t, time }: Visit, { by, at }: Asked): string {
  return t('money.askedBy', { name: by, at: time(at) });
}

/** What the button does. */
export function buttonText(
  { t }: Visit,
  { money, button: { one, many } }: Pick<ConfirmMoneyProps, 'money' | 'button'>,
): string {
  const amount = formatAmount(money.totalCents);
  const [first] = money.payees;
  const count = countOf(money);
  if (many && (count > 1 || !first)) return t(many, { amount, count: formatCount(count) });
  const { name, account } = first?.party ?? { name: null, account: null };
  return t(one, { amount, payee: name ?? account ?? first?.key ?? t('money.payer') });
}
