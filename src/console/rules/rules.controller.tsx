// The rules of an account, in their order, and each with its versions.
import { Controller } from '@nestjs/common';
import { readPage, isUuid } from '../../platform/http/listing.js';
import { RuleCatalog, type OrderedRule } from '../../reconciliation/rules/rule-catalog.service.js';
import { trialFigures } from '../../reconciliation/rules/trial-changes.js';
import { ActorNames } from '../actor-names.service.js';
import { formatCount } from '../formats.js';
import { Card, Pager, ButtonLink, Hint, Row } from '../kit/elements.js';
import { ListCard } from '../kit/list-page.js';
import { ListTable } from '../kit/table.js';
import { ConsolePage, Visiting } from '../serving/console-page.decorator.js';
import { Shown, type PageAnswer } from '../page.js';
import { pathId, useVisit, type Visit } from '../visit.js';
import type { TextKey } from '../texts.js';
import { originKey, RuleDetail, RuleState, sentenceOptions } from './rule-detail.js';
import { defaultText, ruleSentence } from './rule-sentence.js';

@Controller()
export class RulePages {
  constructor(
    private readonly catalog: RuleCatalog,
    private readonly actors: ActorNames,
  ) {}

  @ConsolePage('rules', 'view', { title: 'rules.title', section: 'statement', place: 44 })
  async list(@Visiting() visit: Visit): Promise<PageAnswer> {
    const { t } = visit;
    if (visit.query.get('all') === 'true') return this.listAll(visit);
    const found = await this.catalog.listInOrder(visit.accountId);
    const tableOf = (state: OrderedRule['state'], name: TextKey, empty: TextKey) => (
      <Card title={t(name)}>
        <RuleTable {...{ name, empty }} rules={found.filter((one) => one.state === state)} />
      </Card>
    );
    const body = (
      <>
        <p>{t('rules.intro')}</p>
        <Row is="top">
          {visit.may('manage rules') && (
            <ButtonLink href={visit.to('rules/new')}>{t('rules.new')}</ButtonLink>
          )}
          <a href={`${visit.path}?all=true`}>{t('rules.all')}</a>
        </Row>
        {tableOf('active', 'rules.active', 'rules.none')}
        {tableOf('draft', 'rules.drafts', 'rules.noDrafts')}
      </>
    );
    return new Shown(t('rules.title'), body);
  }

  @ConsolePage('rules/:id', 'view')
  async detail(@Visiting() visit: Visit): Promise<PageAnswer> {
    const found = await this.catalog.getWithTerms(visit.accountId, pathId(visit));
    const steps = found.rule.versions.flatMap((version) => version.steps);
    const nameOf = await this.actors.find(
      visit,
      steps.map(({ actor }) => actor),
    );
    const title = defaultText(found.rule.name, visit.t);
    return new Shown(title, <RuleDetail {...{ nameOf, ...found }} />);
  }

  /** Every rule, newest first, also those without an active version or a draft. */
  private async listAll(visit: Visit): Promise<PageAnswer> {
    const { t } = visit;
    const page = readPage({ cursor: visit.query.get('cursor') ?? undefined }, isUuid);
    const { data, next } = await this.catalog.list(visit.accountId, page);
    const body = (
      <>
        <p>
          <a href={visit.path}>{t('rules.inOrder')}</a>
        </p>
        <ListCard>
          <ListTable
            {...{ name: 'rules.all', rows: data, empty: 'rules.noneAtAll' }}
            columns={{
              'word.rule': { wide: (rule) => linkTo(visit, rule.id, rule.name) },
              'rules.activeVersion': ({ activeVersion }) =>
                activeVersion ?? t('rules.noActiveVersion'),
              'word.origin': ({ origin }) => t(originKey(origin)),
              'word.madeAt': { at: ({ createdAt }) => createdAt },
            }}
          />
          <Pager next={next} />
        </ListCard>
      </>
    );
    return new Shown(t('rules.title'), body);
  }
}

const linkTo = (visit: Visit, id: string, name: string) => (
  <a href={visit.to(`rules/${id}`)}>{defaultText(name, visit.t)}</a>
);

function RuleTable({
  name,
  empty,
  rules: rows,
}: {
  name: TextKey;
  empty: TextKey;
  rules: readonly OrderedRule[];
}) {
  const visit = useVisit();
  return (
    <ListTable
      {...{ name, rows, empty: empty }}
      columns={{
        'rules.order': { count: ({ priority }) => priority },
        'word.rule': {
          wide: (rule) => (
            <>
              {linkTo(visit, rule.ruleId, rule.name)}
              <div>
                <RuleState state={rule.state} />{' '}
                <Hint>{visit.t('word.version', { version: rule.version })}</Hint>
              </div>
            </>
          ),
        },
        'rules.does': {
          is: 'sentence',
          cell: (rule) => ruleSentence(rule, sentenceOptions(visit)),
        },
        'rules.lastTrial': (rule) => lastTrial(visit, rule),
      }}
    />
  );
}

function lastTrial(visit: Visit, { ruleId, lastTrial: trial }: OrderedRule) {
  const { t, time } = visit;
  if (!trial) return <Hint>{t('rules.notTried')}</Hint>;
  const counted = trialFigures.filter((figure) => trial.figures[figure].count > 0);
  return (
    <>
      <a href={visit.to(`rules/${ruleId}/trials/${trial.id}`)}>{time(trial.createdAt)}</a>
      {counted.length === 0 && <Hint isBlock>{t('rules.trialNothing')}</Hint>}
      {counted.map((figure) => (
        <div>
          {t(`ruleFigure.${figure}`)}: {formatCount(trial.figures[figure].count)}
        </div>
      ))}
    </>
  );
}
