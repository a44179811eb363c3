// One rule: what it does, its versions with their differences and trials, and its history.
import type { RuleTerms } from '../../reconciliation/rules/rule-catalog.service.js';
import type { RuleView } from '../../reconciliation/rules/rules.schema.js';
import type { NameOfActor } from '../../access/people/names-of-actors.service.js';
import { badgeOf, Card, FactList, Timeline, Muted } from '../kit/elements.js';
import { FieldForm } from '../kit/form.js';
import { ListTable } from '../kit/table.js';
import { useVisit, type Visit } from '../visit.js';
import type { TextKey } from '../texts.js';
import { differencesOf } from './rule-differences.js';
import { ruleReason, reorderForm, trialForm } from './rule-forms.js';
import { ruleSentence, type SentenceOptions } from './rule-sentence.js';

interface DetailProps {
  rule: RuleView;
  terms: ReadonlyMap<number, RuleTerms>;
  nameOf: NameOfActor;
}

type Version = RuleView['versions'][number];

export const RuleState = badgeOf('ruleState', {
  ...{ draft: 'warn', active: 'good', retired: 'plain' },
});

export const originKey = (origin: string): TextKey =>
  origin === 'default' ? 'rules.origin.default' : 'rules.origin.api';

/** Of the sentences that this person may read. */
export const sentenceOptions = (visit: Visit): SentenceOptions => ({
  t: visit.t,
  isVisible: visit.may('see personal data'),
});

export function RuleDetail(props: DetailProps) {
  const { rule } = props;
  const visit = useVisit();
  const { t, time } = visit;
  const versions = [...rule.versions].reverse();
  return (
    <>
      <FactList
        title="word.rule"
        facts={[
          ['rules.activeVersion', rule.activeVersion ?? t('rules.noActiveVersion')],
          ['word.origin', t(originKey(rule.origin))],
          ['word.madeAt', time(rule.createdAt)],
        ]}
      />
      <h2>{t('word.versions')}</h2>
      {versions.map((version, index) => (
        <VersionCard {...props} version={version} previous={versions[index + 1]?.version ?? null} />
      ))}
      <Card title={t('word.history')}>
        <Timeline entries={stepsOf(visit, props)} />
      </Card>
    </>
  );
}

function VersionCard({
  rule,
  version,
  terms,
  previous,
}: DetailProps & { version: Version; previous: number | null }) {
  const visit = useVisit();
  const { t, time } = visit;
  const own = terms.get(version.version);
  const before = previous === null ? undefined : terms.get(previous);
  const title = (
    <>
      {t('word.version', { version: version.version })} <RuleState state={version.state} />
    </>
  );
  return (
    <Card title={title} id={`version-${version.version}`}>
      {own && <p>{ruleSentence(own, sentenceOptions(visit))}</p>}
      <Muted>
        {t('rules.order')} {version.priority}
        {version.reason !== null && <> · {t('word.because', { reason: version.reason })}</>}
        {version.activatedAt !== null && (
          <>
            {' '}
            · {t('word.since')} {time(version.activatedAt)}
          </>
        )}
      </Muted>
      {own && before && previous !== null && (
        <Differences before={before} after={own} previous={previous} />
      )}
      <Trials rule={rule} version={version} />
      {visit.may('manage rules') && <VersionActions rule={rule} version={version} />}
    </Card>
  );
}

function Differences({
  before,
  after,
  previous,
}: {
  before: RuleTerms;
  after: RuleTerms;
  previous: number;
}) {
  const visit = useVisit();
  const { t } = visit;
  const said = t('rules.changedFrom', { version: previous });
  return (
    <details>
      <summary>{said}</summary>
      <ListTable
        {...{ name: { said }, empty: 'rules.sameTerms' }}
        rows={differencesOf(before, after, sentenceOptions(visit))}
        columns={{
          'word.aspect': ({ aspect }) => <strong>{t(`ruleAspect.${aspect}`)}</strong>,
          'word.before': { wide: ({ was }) => <del>{was ?? t('rules.absent')}</del> },
          'word.after': { wide: ({ is }) => <ins>{is ?? t('rules.absent')}</ins> },
        }}
      />
    </details>
  );
}

const trialsShown = 5;

function Trials({ rule, version }: { rule: RuleView; version: Version }) {
  const { t, time, to } = useVisit();
  if (version.trials.length === 0) return <Muted>{t('rules.notTried')}</Muted>;
  return (
    <p>
      {t('rules.lastTrial')}:{' '}
      {version.trials.slice(0, trialsShown).map(({ id, createdAt }, index) => (
        <>
          {index > 0 && ' · '}
          <a href={to(`rules/${rule.id}/trials/${id}`)}>{time(createdAt)}</a>
        </>
      ))}
    </p>
  );
}

function VersionActions({
  rule,
  version: { version, state, priority },
}: {
  rule: RuleView;
  version: Version;
}) {
  const visit = useVisit();
  const at = { visit, ruleId: rule.id, version: String(version) };
  return (
    <>
      {state !== 'active' && <FieldForm {...trialForm(at)} />}
      <details>
        <summary>{visit.t('rules.otherActions')}</summary>
        <p>
          <a href={visit.to(`rules/${rule.id}/edit?version=${version}`)}>{visit.t('rules.edit')}</a>
        </p>
        <FieldForm {...reorderForm(at)} values={{ priority }} />
        {state !== 'retired' && (
          <FieldForm
            {...{ fields: ruleReason, hidden: { version: at.version } }}
            action={visit.to(`rules/${rule.id}/retire`)}
            shown={`version ${version}`}
            intro="rules.retireHint"
            button="rules.retire"
          />
        )}
      </details>
    </>
  );
}

function stepsOf({ t }: Visit, { rule: { versions }, nameOf }: DetailProps) {
  const steps = versions.flatMap(({ version, steps: of }) =>
    of.map((step) => ({ ...step, version })),
  );
  return steps
    .sort((one, other) => other.at.getTime() - one.at.getTime())
    .map(({ action, version, actor, reason, at }) => ({
      at,
      tone: action === 'activated' ? ('good' as const) : ('plain' as const),
      title: t(`ruleStep.${action as 'declared' | 'tried' | 'activated' | 'retired'}`, { version }),
      detail: (
        <>
          {nameOf(actor)}
          {reason !== null && <div>{t('word.because', { reason })}</div>}
        </>
      ),
    }));
}
