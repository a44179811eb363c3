// One rule: what it does, its versions with their differences and trials, and its history.
import type { JSX } from 'preact';
import type { RuleTerms } from '../../reconciliation/rules/rule-catalog.service.js';
import type { RuleView } from '../../reconciliation/rules/rules.schema.js';
import type { NameOfActor } from '../actor-names.service.js';
import { Card, FactList, Timeline } from '../kit/elements.js';
import { formatTime } from '../formats.js';
import { DataTable } from '../kit/frame.js';
import type { Visit } from '../requests.js';
import { isAllowedTo, pathTo } from '../visit.js';
import { differencesOf } from './rule-differences.js';
import { RetireForm, ReorderForm, TrialForm } from './rule-forms.js';
import { RuleState } from './rule-list.js';
import { ruleSentence } from './rule-sentence.js';

interface DetailProps {
  visit: Visit;
  rule: RuleView;
  terms: ReadonlyMap<number, RuleTerms>;
  nameOf: NameOfActor;
}

type Version = RuleView['versions'][number];

export function RuleDetail(props: DetailProps): JSX.Element {
  const { visit, rule } = props;
  const { t, language } = visit;
  const versions = [...rule.versions].reverse();
  return (
    <>
      <FactList
        visit={visit}
        title="rules.facts"
        facts={[
          ['rules.activeVersion', rule.activeVersion ?? t('rules.noActiveVersion')],
          [
            'rules.origin',
            t(rule.origin === 'default' ? 'rules.origin.default' : 'rules.origin.api'),
          ],
          ['rules.created', formatTime(rule.createdAt, language)],
        ]}
      />
      <h2>{t('rules.versions')}</h2>
      {versions.map((version, index) => (
        <VersionCard {...props} version={version} previous={versions[index + 1]?.version ?? null} />
      ))}
      <Card title={t('rules.steps')}>
        <Timeline visit={visit} entries={stepsOf(props)} />
      </Card>
    </>
  );
}

function VersionCard({
  visit,
  rule,
  version,
  terms,
  previous,
}: DetailProps & { version: Version; previous: number | null }) {
  const { t, language } = visit;
  const options = { t, isVisible: isAllowedTo(visit, 'see personal data') };
  const own = terms.get(version.version);
  const before = previous === null ? undefined : terms.get(previous);
  return (
    <section class="card" aria-labelledby={`version-${version.version}`}>
      <h3 id={`version-${version.version}`}>
        {t('rules.versionNumber', { version: version.version })}{' '}
        <RuleState visit={visit} state={version.state} />
      </h3>
      {own && <p class="sentence">{ruleSentence(own, options)}</p>}
      <p class="muted">
        {t('rules.order')} {version.priority}
        {version.reason !== null && <> · {t('rules.because', { reason: version.reason })}</>}
        {version.activatedAt !== null && (
          <>
            {' '}
            · {t('rules.since')} {formatTime(version.activatedAt, language)}
          </>
        )}
      </p>
      {own && before && previous !== null && (
        <Differences visit={visit} before={before} after={own} previous={previous} />
      )}
      <Trials visit={visit} rule={rule} version={version} />
      {isAllowedTo(visit, 'manage rules') && (
        <VersionActions visit={visit} rule={rule} version={version} />
      )}
    </section>
  );
}

function Differences({
  visit,
  before,
  after,
  previous,
}: {
  visit: Visit;
  before: RuleTerms;
  after: RuleTerms;
  previous: number;
}) {
  const { t } = visit;
  const options = { t, isVisible: isAllowedTo(visit, 'see personal data') };
  const differences = differencesOf(before, after, options);
  const title = t('rules.changedFrom', { version: previous });
  return (
    <details>
      <summary>{title}</summary>
      {differences.length === 0 && <p class="muted">{t('rules.sameTerms')}</p>}
      {differences.length > 0 && (
        <DataTable
          visit={visit}
          name={title}
          columns={['rules.aspect', 'rules.before', 'rules.after']}
        >
          {differences.map(({ aspect, was, is }) => (
            <tr>
              <th scope="row">{t(`ruleAspect.${aspect}`)}</th>
              <td class="wide">
                <del>{was ?? t('rules.absent')}</del>
              </td>
              <td class="wide">
                <ins>{is ?? t('rules.absent')}</ins>
              </td>
            </tr>
          ))}
        </DataTable>
      )}
    </details>
  );
}

const trialsShown = 5;

function Trials({ visit, rule, version }: { visit: Visit; rule: RuleView; version: Version }) {
  const { t, language } = visit;
  if (version.trials.length === 0) return <p class="muted">{t('rules.notTried')}</p>;
  return (
    <p>
      {t('rules.lastTrial')}:{' '}
      {version.trials.slice(0, trialsShown).map(({ id, createdAt }, index) => (
        <>
          {index > 0 && ' · '}
          <a href={pathTo(visit, `rules/${rule.id}/trials/${id}`)}>
            {formatTime(createdAt, language)}
          </a>
        </>
      ))}
    </p>
  );
}

function VersionActions({
  visit,
  rule,
  version: { version, state, priority },
}: {
  visit: Visit;
  rule: RuleView;
  version: Version;
}) {
  const { t } = visit;
  return (
    <>
      {state !== 'active' && <TrialForm visit={visit} ruleId={rule.id} version={version} />}
      <details>
        <summary>{t('rules.otherActions')}</summary>
        <p>
          <a href={pathTo(visit, `rules/${rule.id}/edit?version=${version}`)}>{t('rules.edit')}</a>
        </p>
        <ReorderForm visit={visit} ruleId={rule.id} version={version} priority={priority} />
        {state !== 'retired' && <RetireForm visit={visit} ruleId={rule.id} version={version} />}
      </details>
    </>
  );
}

function stepsOf({ visit, rule: { versions }, nameOf }: DetailProps) {
  const { t } = visit;
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
          {reason !== null && <div>{t('rules.because', { reason })}</div>}
        </>
      ),
    }));
}
