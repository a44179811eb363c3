// The lists of rules.
import type { JSX } from 'preact';
import type { OrderedRule } from '../../reconciliation/rules/rule-catalog.service.js';
import type { RuleView } from '../../reconciliation/rules/rules.schema.js';
import { trialFigures } from '../../reconciliation/rules/trial-changes.js';
import { Badge, Card, Empty, Pager, type Tone } from '../kit/elements.js';
import { formatCount, formatTime } from '../formats.js';
import { DataTable } from '../kit/frame.js';
import type { Visit } from '../requests.js';
import { isAllowedTo, pathTo } from '../visit.js';
import { defaultText, ruleSentence } from './rule-sentence.js';

const stateTones: Record<OrderedRule['state'], Tone> = {
  draft: 'warn',
  active: 'good',
  retired: 'plain',
};

export function RulesInOrder({
  visit,
  rules,
}: {
  visit: Visit;
  rules: readonly OrderedRule[];
}): JSX.Element {
  const { t } = visit;
  const active = rules.filter(({ state }) => state === 'active');
  const drafts = rules.filter(({ state }) => state === 'draft');
  return (
    <>
      <p>{t('rules.intro')}</p>
      <p class="row">
        {isAllowedTo(visit, 'manage rules') && (
          <a class="button" href={pathTo(visit, 'rules/new')}>
            {t('rules.new')}
          </a>
        )}
        <a href={`${visit.path}?all=true`}>{t('rules.all')}</a>
      </p>
      <Card title={t('rules.active')}>
        {active.length === 0 ? (
          <Empty>{t('rules.none')}</Empty>
        ) : (
          <RuleTable visit={visit} name={t('rules.active')} rules={active} />
        )}
      </Card>
      <Card title={t('rules.drafts')}>
        {drafts.length === 0 ? (
          <Empty>{t('rules.noDrafts')}</Empty>
        ) : (
          <RuleTable visit={visit} name={t('rules.drafts')} rules={drafts} />
        )}
      </Card>
    </>
  );
}

function RuleTable({
  visit,
  name,
  rules,
}: {
  visit: Visit;
  name: string;
  rules: readonly OrderedRule[];
}) {
  const options = { t: visit.t, isVisible: isAllowedTo(visit, 'see personal data') };
  return (
    <DataTable
      visit={visit}
      name={name}
      columns={['rules.order', 'rules.rule', 'rules.does', 'rules.lastTrial']}
      numbers={['rules.order']}
    >
      {rules.map((rule) => (
        <tr>
          <td class="number">{formatCount(rule.priority)}</td>
          <td class="wide">
            <a href={pathTo(visit, `rules/${rule.ruleId}`)}>{defaultText(rule.name, visit.t)}</a>
            <div>
              <RuleState visit={visit} state={rule.state} />{' '}
              <span class="muted">{visit.t('rules.versionNumber', { version: rule.version })}</span>
            </div>
          </td>
          <td class="wide sentence">{ruleSentence(rule, options)}</td>
          <td>
            <LastTrial visit={visit} rule={rule} />
          </td>
        </tr>
      ))}
    </DataTable>
  );
}

export function RuleState({ visit, state }: { visit: Visit; state: OrderedRule['state'] }) {
  return <Badge tone={stateTones[state]} text={visit.t(`ruleState.${state}`)} />;
}

function LastTrial({ visit, rule }: { visit: Visit; rule: OrderedRule }) {
  const { t, language } = visit;
  const { lastTrial } = rule;
  if (!lastTrial) return <span class="muted">{t('rules.notTried')}</span>;
  const counted = trialFigures.filter((figure) => lastTrial.figures[figure].count > 0);
  return (
    <>
      <a href={pathTo(visit, `rules/${rule.ruleId}/trials/${lastTrial.id}`)}>
        {formatTime(lastTrial.createdAt, language)}
      </a>
      {counted.length === 0 && <div class="muted">{t('rules.trialNothing')}</div>}
      {counted.map((figure) => (
        <div>
          {t(`ruleFigure.${figure}`)}: {formatCount(lastTrial.figures[figure].count)}
        </div>
      ))}
    </>
  );
}

/** Every rule, newest first, also those without an active version or a draft. */
export function AllRules({
  visit,
  rules,
  next,
}: {
  visit: Visit;
  rules: readonly Pick<RuleView, 'id' | 'name' | 'origin' | 'createdAt' | 'activeVersion'>[];
  next: string | null;
}): JSX.Element {
  const { t, language } = visit;
  return (
    <>
      <p>
        <a href={visit.path}>{t('rules.inOrder')}</a>
      </p>
      <section class="card">
        {rules.length === 0 && <Empty>{t('rules.noneAtAll')}</Empty>}
        <DataTable
          visit={visit}
          name={t('rules.all')}
          columns={['rules.rule', 'rules.activeVersion', 'rules.origin', 'rules.created']}
        >
          {rules.map(({ id, name, origin, createdAt, activeVersion }) => (
            <tr>
              <td class="wide">
                <a href={pathTo(visit, `rules/${id}`)}>{defaultText(name, t)}</a>
              </td>
              <td>{activeVersion ?? t('rules.noActiveVersion')}</td>
              <td>{t(origin === 'default' ? 'rules.origin.default' : 'rules.origin.api')}</td>
              <td>{formatTime(createdAt, language)}</td>
            </tr>
          ))}
        </DataTable>
        <Pager visit={visit} next={next} />
      </section>
    </>
  );
}
