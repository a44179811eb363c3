// The approval policy: what is in force in words, proposals that weaken it, its history, and the
// form that changes it. The rules are those of the API, for keys and people.
import { sendingKinds } from '../../bank-contract/operation-kinds.js';
import { Controller } from '@nestjs/common';
import type { RouteOutput } from '../../bank-contract/route.js';
import { personActor } from '../../access/accounts/actor.js';
import { OperationSource } from '../../generated/service/enums.js';
import { ApprovalPolicies } from '../../outbound/operations/approval-policies.service.js';
import type { getApprovalPolicy } from '../../outbound/operations/approvals.schema.js';
import { ActorNames, type NameOfActor } from '../actor-names.service.js';
import { ConsoleAction, ConsolePage, Visiting } from '../serving/console-page.decorator.js';
import { Badge, Card, Empty } from '../kit/elements.js';
import { formatTime } from '../formats.js';
import { DataTable, Field, Form, Message, StepUpNotice } from '../kit/frame.js';
import { Redirect, Shown, type PageAnswer } from '../page.js';
import type { Visit } from '../requests.js';
import type { TextKey } from '../texts.js';
import { writeTypedAmount } from '../typed-amount.js';
import { accountOf, callerOf, isAllowedTo, pathTo, sessionOf, typed } from '../visit.js';
import { policyWords, readPolicyForm, type WordedPolicy } from './policy-words.js';

const path = '/console/accounts/:account/approval-policy';
type PolicyView = RouteOutput<typeof getApprovalPolicy>;
type Proposal = PolicyView['proposed'][number];

interface Props {
  visit: Visit;
  policy: PolicyView;
  nameOf: NameOfActor;
}

@Controller()
export class ApprovalPolicyPages {
  constructor(
    private readonly policies: ApprovalPolicies,
    private readonly names: ActorNames,
  ) {}

  @ConsolePage({
    path,
    needs: 'view',
    menu: { title: 'policy.title', section: 'approvals', place: 62 },
  })
  async show(@Visiting() visit: Visit): Promise<PageAnswer> {
    return this.page(visit);
  }

  @ConsoleAction({
    path,
    needs: 'manage payment rules',
    audit: {
      action: 'change approval policy',
      subject: (visit) => `account ${accountOf(visit).id}`,
    },
  })
  async change(@Visiting() visit: Visit): Promise<PageAnswer> {
    const read = readPolicyForm(visit.form, typed(visit, 'reason'));
    if (!read.ok) return this.page(visit, read.wrong);
    const { isProposed } = await this.policies.change(callerOf(visit), read.policy);
    const done = isProposed ? 'waiting' : 'saved';
    return new Redirect(`${pathTo(visit, 'approval-policy')}?done=${done}`);
  }

  private async page(visit: Visit, wrong: readonly TextKey[] = []): Promise<Shown> {
    const { t } = visit;
    const policy = await this.policies.get(accountOf(visit).id);
    const actors = [...policy.proposed, ...policy.changes].map(({ actor }) => actor);
    const props = { visit, policy, nameOf: await this.names.find(visit, actors) };
    const mayChange = isAllowedTo(visit, 'manage payment rules');
    const body = (
      <>
        <Outcome visit={visit} wrong={wrong} />
        <Card title={t('policy.inForce')}>
          <Words visit={visit} policy={policy} />
        </Card>
        {mayChange && <StepUpNotice visit={visit} />}
        <Proposals {...props} />
        {mayChange ? (
          <ChangeForm visit={visit} policy={policy} />
        ) : (
          <p class="muted">{t('policy.needsRole')}</p>
        )}
        <History {...props} />
      </>
    );
    return new Shown(t('policy.title'), body, wrong.length > 0 ? { status: 400 } : {});
  }
}

function Outcome({ visit: { t, query }, wrong }: { visit: Visit; wrong: readonly TextKey[] }) {
  if (wrong.length > 0)
    return (
      <Message kind="bad">
        {t('policy.wrong', { names: wrong.map((key) => t(key)).join(', ') })}
      </Message>
    );
  const done = query.get('done');
  if (done === 'saved') return <Message kind="good">{t('policy.saved')}</Message>;
  return done === 'waiting' ? <Message kind="warn">{t('policy.waiting')}</Message> : null;
}

function Words({ visit: { t }, policy }: { visit: Visit; policy: WordedPolicy }) {
  return (
    <ul class="words">
      {policyWords(t, policy).map((word) => (
        <li>{word}</li>
      ))}
    </ul>
  );
}

function Proposals({ visit, policy: { proposed, changes }, nameOf }: Props) {
  const { t, language } = visit;
  const own = personActor(sessionOf(visit).operatorId);
  return (
    <Card title={t('policy.proposed')}>
      <p class="muted">{t('policy.proposedWhy')}</p>
      {proposed.length === 0 && <Empty>{t('policy.noProposals')}</Empty>}
      {proposed.map((proposal) => (
        <div class="proposal">
          <Words visit={visit} policy={proposal} />
          <p>
            {nameOf(proposal.actor)}, {formatTime(proposal.at, language)}
            {proposal.reason !== null && `: ${proposal.reason}`}
          </p>
          {proposal.actor === own ? (
            <p class="muted">{t('policy.ownProposal')}</p>
          ) : (
            isAllowedTo(visit, 'manage payment rules') && (
              <Confirmation visit={visit} proposal={proposal} version={versionOf(changes)} />
            )
          )}
        </div>
      ))}
    </Card>
  );
}

/** The same change again, by another holder. */
function Confirmation({
  visit,
  proposal,
  version,
}: {
  visit: Visit;
  proposal: Proposal;
  version: string;
}) {
  const { t } = visit;
  const hidden: [string, string][] = [
    ['aboveAmount', proposal.aboveAmount === null ? '' : writeTypedAmount(proposal.aboveAmount)],
    ['approvals', String(proposal.approvals)],
    ['expiresAfterHours', String(proposal.expiresAfterHours)],
    ['newBeneficiary', proposal.newBeneficiary ? 'yes' : 'no'],
    ...proposal.kinds.map((kind): [string, string] => ['kinds', kind]),
    ...proposal.sources.map((source): [string, string] => ['sources', source]),
  ];
  return (
    <Form visit={visit} action={pathTo(visit, 'approval-policy')} shown={version}>
      {hidden.map(([name, value]) => (
        <input type="hidden" name={name} value={value} />
      ))}
      <div class="row">
        <Field label={t('app.reason')} name="reason" maxLength={500} required autocomplete="off" />
        <button>{t('policy.confirm')}</button>
      </div>
    </Form>
  );
}

/** The number of the last change, as the audit records what the person saw. */
function versionOf(changes: PolicyView['changes']): string {
  return `version ${changes[0]?.sequence ?? 0}`;
}

function ChangeForm({ visit, policy }: Omit<Props, 'nameOf'>) {
  const { t, form } = visit;
  const isTyped = form.has('reason');
  const amount = policy.aboveAmount === null ? '' : writeTypedAmount(policy.aboveAmount);
  const value = (name: string, stored: string) => (isTyped ? (form.get(name) ?? '') : stored);
  const chosen = (name: string, stored: readonly string[]) =>
    isTyped ? form.getAll(name) : stored;
  const isNew = isTyped ? form.get('newBeneficiary') === 'yes' : policy.newBeneficiary;
  return (
    <section class="card stack">
      <h2>{t('policy.change')}</h2>
      <Form
        visit={visit}
        action={pathTo(visit, 'approval-policy')}
        shown={versionOf(policy.changes)}
      >
        <Field
          label={t('policy.aboveAmount')}
          hint={t('policy.aboveHint')}
          name="aboveAmount"
          inputMode="decimal"
          value={value('aboveAmount', amount)}
          autocomplete="off"
        />
        <label>
          <input type="checkbox" name="newBeneficiary" value="yes" checked={isNew} />
          {t('policy.newField')}
        </label>
        <Choices
          visit={visit}
          legend="policy.kinds"
          name="kinds"
          chosen={chosen('kinds', policy.kinds)}
          options={sendingKinds.map((kind) => [kind, t(`approvals.kind.${kind}`)])}
        />
        <Choices
          visit={visit}
          legend="policy.sources"
          name="sources"
          chosen={chosen('sources', policy.sources)}
          options={Object.values(OperationSource).map((source) => [
            source,
            t(`approvals.source.${source}`),
          ])}
        />
        <Numbers visit={visit} value={value} policy={policy} />
        <p>
          <button>{t('policy.change')}</button>
        </p>
      </Form>
    </section>
  );
}

function Numbers({
  visit: { t },
  value,
  policy,
}: Omit<Props, 'nameOf'> & { value: (name: string, stored: string) => string }) {
  const approvals = value('approvals', String(policy.approvals));
  return (
    <div class="row">
      <label>
        {t('policy.approvals')}
        <select name="approvals">
          {['1', '2'].map((count) => (
            <option value={count} selected={approvals === count}>
              {count}
            </option>
          ))}
        </select>
      </label>
      <Field
        label={t('policy.hours')}
        name="expiresAfterHours"
        inputMode="numeric"
        value={value('expiresAfterHours', String(policy.expiresAfterHours))}
      />
      <Field
        label={t('app.reason')}
        name="reason"
        maxLength={500}
        required
        value={value('reason', '')}
        autocomplete="off"
      />
    </div>
  );
}

function Choices({
  visit: { t },
  legend,
  name,
  chosen,
  options,
}: {
  visit: Visit;
  legend: TextKey;
  name: string;
  chosen: readonly string[];
  options: readonly (readonly [value: string, text: string])[];
}) {
  return (
    <fieldset>
      <legend>
        {t(legend)} <span class="hint">{t('policy.noneIsAll')}</span>
      </legend>
      {options.map(([value, text]) => (
        <label>
          <input type="checkbox" name={name} value={value} checked={chosen.includes(value)} />
          {text}
        </label>
      ))}
    </fieldset>
  );
}

function History({ visit, policy: { changes }, nameOf }: Props) {
  const { t, language } = visit;
  return (
    <Card title={t('policy.history')}>
      <DataTable
        empty={t('policy.noHistory')}
        visit={visit}
        name={t('policy.history')}
        columns={['policy.at', 'policy.who', 'policy.what', 'policy.state', 'app.reason']}
      >
        {changes.map((change) => (
          <tr>
            <td>{formatTime(change.at, language)}</td>
            <td class="wide">{nameOf(change.actor)}</td>
            <td class="wide">{policyWords(t, change).join(' ')}</td>
            <td>
              <Badge
                tone={change.isInForce ? 'good' : 'plain'}
                text={t(change.isInForce ? 'policy.entered' : 'policy.onlyProposed')}
              />
            </td>
            <td class="wide">{change.reason ?? t('app.none')}</td>
          </tr>
        ))}
      </DataTable>
    </Card>
  );
}
