// One box for any id, document, name or amount. What may name a person is sent by a form and stays
// out of the address; anything else is an address that can be sent to a colleague.
import { Controller } from '@nestjs/common';
import {
  counterpartyIn,
  findCounterparties,
  findExpectedCounterparties,
} from '../../access/counterparties/counterparties.queries.js';
import { shownCounterparty } from '../../access/counterparties/counterparty.schema.js';
import { unknownCounterparty, type Counterparty } from '../../access/counterparties/resolution.js';
import { Database } from '../../platform/postgres/database.service.js';
import { ConsoleAction, ConsolePage, Visiting } from '../serving/console-page.decorator.js';
import { Card, Message, Hint, Muted } from '../kit/elements.js';
import { Fields, Form, type FormFields } from '../kit/form.js';
import { formatAmount } from '../formats.js';
import { ListCard } from '../kit/list-page.js';
import { ListTable } from '../kit/table.js';
import { Redirect, Shown, type PageAnswer } from '../page.js';
import { typed, useVisit, type Visit } from '../visit.js';
import { findTextKey, wordOf } from '../texts.js';
import { partyColumn, StateBadge } from './list-elements.js';
import { nameOfType } from './statement-elements.js';
import { groups, hitsOf, type Group, type Hit } from './search-hits.js';
import { rowsOfLookUp } from './search.queries.js';
import { RecordSearch } from './search.service.js';
import {
  fitsAddress,
  readSearchTerms,
  termsIn,
  withoutPersonalTerms,
  type SearchTerms,
} from './search-terms.js';

const shownOfGroup = rowsOfLookUp - 1;

@Controller()
export class SearchPage {
  constructor(
    private readonly search: RecordSearch,
    private readonly database: Database,
  ) {}

  @ConsolePage('search', 'view')
  async byAddress(@Visiting() visit: Visit): Promise<PageAnswer> {
    const terms = readSearchTerms(visit.query.get('q') ?? '');
    if (fitsAddress(terms)) return this.answer(visit, terms);
    return new Shown(
      visit.t('search.title'),
      <>
        <SearchForm text={terms.text} />
        <Message kind="warn">{visit.t('search.notFromAddress')}</Message>
      </>,
    );
  }

  /** A form changes nothing here: what is typed into it stays out of addresses and logs. */
  @ConsoleAction('search', 'view', 'own')
  async byForm(@Visiting() visit: Visit): Promise<PageAnswer> {
    const terms = readSearchTerms(typed(visit, 'q'));
    if (!fitsAddress(terms)) return this.answer(visit, terms);
    return new Redirect(visit.to(`search?q=${encodeURIComponent(terms.text)}`));
  }

  private async answer(visit: Visit, typedTerms: SearchTerms): Promise<PageAnswer> {
    const { t } = visit;
    const maySeePersons = visit.may('see personal data');
    const terms = maySeePersons ? typedTerms : withoutPersonalTerms(typedTerms);
    const hits = hitsOf(await this.search.find(visit.accountId, terms));
    const [only, ...others] = hits;
    if (only && others.length === 0) return new Redirect(visit.to(only.path));
    const partyOf = await this.readParties(visit, hits);
    const isAbridged = groups.some(
      (group) => hits.filter((hit) => hit.group === group).length > shownOfGroup,
    );
    const body = (
      <>
        <SearchForm text={typedTerms.text} />
        <Notes terms={terms} isRestricted={terms !== typedTerms} />
        {isAbridged && <Message kind="warn">{t('search.more', { count: shownOfGroup })}</Message>}
        {hits.length === 0 && typedTerms.text !== '' && <p role="status">{t('search.nothing')}</p>}
        {groups.map((group) => (
          <HitGroup
            {...{ group, partyOf }}
            hits={hits.filter((hit) => hit.group === group).slice(0, shownOfGroup)}
          />
        ))}
      </>
    );
    return new Shown(t('search.title'), body);
  }

  /** Who pays or is paid, as the reader may see it. */
  private async readParties(
    visit: Visit,
    hits: readonly Hit[],
  ): Promise<(hit: Hit) => Counterparty> {
    const { prisma } = this.database;
    const { accountId } = visit;
    const isVisible = visit.may('see personal data');
    const ids = hits.flatMap((hit) => (hit.of === 'payment' ? hit.payment.id : []));
    const nsus = hits.flatMap((hit) => (hit.of === 'line' ? hit.line.nsu : []));
    const ofPayments = await findExpectedCounterparties(prisma, accountId, ids);
    const ofLines = await findCounterparties(prisma, accountId, nsus);
    return (hit) => {
      if (hit.of === 'payment')
        return shownCounterparty(counterpartyIn(ofPayments, hit.payment.id), isVisible);
      if (hit.of === 'line')
        return shownCounterparty(counterpartyIn(ofLines, hit.line.nsu), isVisible);
      return unknownCounterparty;
    };
  }
}

const searchFields: FormFields = { q: { label: 'search.label', required: true, maxLength: 255 } };

function SearchForm({ text }: { text: string }) {
  const { t, to } = useVisit();
  return (
    <ListCard>
      <Form action={to('search')}>
        <Fields {...{ fields: searchFields, values: { q: text } }} />
        <button>{t('search.submit')}</button>
      </Form>
      <Hint isBlock>{t('search.hint')}</Hint>
    </ListCard>
  );
}

/** What the text was read as, and what cannot be found by it. */
function Notes({ terms, isRestricted }: { terms: SearchTerms; isRestricted: boolean }) {
  const { t } = useVisit();
  const amount = terms.amountCents === null ? '' : formatAmount(terms.amountCents);
  const names = termsIn(terms).map((term) => t(`search.term.${term}`, { amount }));
  return (
    <>
      {isRestricted && <Message kind="warn">{t('search.notAllowed')}</Message>}
      {names.length > 0 && (
        <Muted>
          {t('search.readAs', { terms: names.join(', ') })}{' '}
          {terms.name !== null && t('search.namesOf')} {terms.pixKey !== null && t('search.keysOf')}
        </Muted>
      )}
    </>
  );
}

function HitGroup({
  group,
  hits,
  partyOf,
}: {
  group: Group;
  hits: readonly Hit[];
  partyOf: (hit: Hit) => Counterparty;
}) {
  const visit = useVisit();
  if (hits.length === 0) return null;
  return (
    <Card title={visit.t(`search.${group}`)}>
      <ListTable
        {...{ name: `search.${group}`, rows: hits }}
        columns={{
          'word.what': { wide: (hit) => <a href={visit.to(hit.path)}>{nameOf(visit, hit)}</a> },
          'word.amount': { cents: ({ amountCents }) => amountCents },
          'word.status': (hit) => <HitState hit={hit} />,
          'word.counterparty': partyColumn(partyOf),
          'word.when': { at: ({ at }) => at },
        }}
      />
    </Card>
  );
}

function nameOf(visit: Visit, hit: Hit): string {
  switch (hit.of) {
    case 'payment':
      return hit.payment.label ?? hit.payment.id;
    case 'operation':
      return wordOf(visit.t, 'list.operationKind', hit.operation.kind);
    case 'line':
      return `${hit.line.nsu} · ${nameOfType(visit, hit.line)}`;
    case 'break':
      return wordOf(visit.t, 'break', hit.found.kind);
  }
}

function HitState({ hit }: { hit: Hit }) {
  const { t } = useVisit();
  const stateBadge = (of: string, state: string) => (
    <StateBadge state={state} text={wordOf(t, of, state)} />
  );
  switch (hit.of) {
    case 'payment': {
      const { settlement, isCredit } = hit.payment;
      const state = settlement ?? 'open';
      const key =
        findTextKey(`list.${isCredit ? 'charge' : 'sent'}.settlement.${state}`) ??
        findTextKey(`list.sent.settlement.${state}`);
      return <StateBadge state={state} text={key ? t(key) : state} />;
    }
    case 'operation':
      return stateBadge('list.operationState', hit.operation.state);
    case 'line':
      return stateBadge('line.state', hit.line.state);
    case 'break':
      return stateBadge('breaks.state', hit.found.state);
  }
}
