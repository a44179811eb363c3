// The approval policy: what is in force in words, proposals that weaken it, its history, and the
// form that changes it. The rules are those of the API, for keys and people.
import { Controller } from '@nestjs/common';
import { personActor } from '../../access/accounts/actor.js';
import type { RouteOutput } from '../../bank-contract/route.js';
import { ApprovalPolicies } from '../../outbound/operations/approval-policies.service.js';
import type { getApprovalPolicy } from '../../outbound/operations/approvals.schema.js';
import type { NameOfActor } from '../../access/people/names-of-actors.service.js';
import { ActorNames } from '../actor-names.service.js';
import {
  ConsoleAction,
  ConsolePage,
  Visiting,
  ShownAgainBy,
} from '../serving/console-page.decorator.js';
import { Badge, Card, Message, Muted } from '../kit/elements.js';
import { FormCard, Step } from '../kit/form.js';
import { ListTable, type ListColumns, TableCard } from '../kit/table.js';
import { Redirect, Shown, type PageAnswer } from '../page.js';
import { callerOf, sessionOf, useVisit, type Visit } from '../visit.js';
import { writeTypedAmount } from '../typed-amount.js';
import { policyFields, policyWords, readPolicyForm } from './policy-words.js';

type PolicyView = RouteOutput<typeof getApprovalPolicy>;
type Proposal = PolicyView['proposed'][number];

interface Props {
  policy: PolicyView;
  nameOf: NameOfActor;
}

@Controller()
export class ApprovalPolicyPages {
  constructor(
    private readonly policies: ApprovalPolicies,
    private readonly names: ActorNames,
  ) {}

  @ConsolePage('approval-policy', 'view', {
    title: 'policy.title',
    section: 'approvals',
    place: 62,
  })
  async show(@Visiting() visit: Visit): Promise<PageAnswer> {
    const { t } = visit;
    const policy = await this.policies.get(visit.accountId);
    const actors = [...policy.proposed, ...policy.changes].map(({ actor }) => actor);
    const props = { policy, nameOf: await this.names.find(visit, actors) };
    const mayChange = visit.may('manage payment rules');
    const body = (
      <>
        <Outcome />
        <Card title={t('policy.inForce')}>
          {policyWords(t, policy).map((word) => (
            <p>{word}</p>
          ))}
        </Card>
        <Proposals {...props} />
        {mayChange ? (
          <FormCard
            {...{ fields: policyFields(t), values: typedValues(policy) }}
            title="policy.change"
            action={visit.to('approval-policy')}
            shown={versionOf(policy)}
            button="policy.change"
            asksReason
          />
        ) : (
          <Muted>{t('policy.needsRole')}</Muted>
        )}
        <History {...props} />
      </>
    );
    return new Shown(t('policy.title'), body);
  }

  @ConsoleAction(
    'approval-policy',
    'manage payment rules',
    'change approval policy',
    (visit) => `account ${visit.accountId}`,
  )
  @ShownAgainBy('show')
  async change(@Visiting() visit: Visit): Promise<PageAnswer> {
    const { isProposed } = await this.policies.change(callerOf(visit), readPolicyForm(visit));
    const done = isProposed ? 'waiting' : 'saved';
    return new Redirect(`${visit.to('approval-policy')}?done=${done}`);
  }
}

function Outcome() {
  const { t, query } = useVisit();
  const done = query.get('done');
  if (done === 'saved') return <Message kind="good">{t('policy.saved')}</Message>;
  return done === 'waiting' ? <Message kind="warn">{t('policy.waiting')}</Message> : null;
}

/** The number of the last change, as the audit records what the person saw. */
function versionOf({ changes }: PolicyView): string {
  return `version ${changes[0]?.sequence ?? 0}`;
}

/** As the fields of the form have it. */
function typedValues({ aboveAmount, approvals, ...policy }: PolicyView | Proposal) {
  const { newBeneficiary, kinds, sources, expiresAfterHours } = policy;
  return {
    aboveAmount: aboveAmount === null ? '' : writeTypedAmount(aboveAmount),
    approvals: String(approvals),
    ...{ newBeneficiary, kinds, sources, expiresAfterHours: String(expiresAfterHours) },
  };
}

/** Of a proposal and of a change. */
function columnsOf({ t }: Visit, nameOf: NameOfActor): ListColumns<Proposal> {
  return {
    'word.when': { at: ({ at }) => at },
    'word.who': { wide: ({ actor }) => nameOf(actor) },
    'policy.what': { wide: (policy) => policyWords(t, policy).join(' ') },
    'app.reason': { wide: ({ reason }) => reason },
  };
}

/** Another holder confirms a proposal: by the same change again. */
function Proposals(props: Props) {
  const visit = useVisit();
  const { policy } = props;
  const { t } = visit;
  const own = personActor(sessionOf(visit).operatorId);
  const confirmation = (proposal: Proposal) => {
    if (proposal.actor === own) return t('policy.ownProposal');
    if (!visit.may('manage payment rules')) return null;
    const { newBeneficiary, ...values } = typedValues(proposal);
    return (
      <Step
        {...{ action: visit.to('approval-policy'), shown: versionOf(policy) }}
        // A tick that is not set is not sent.
        hidden={{ ...values, ...(newBeneficiary ? { newBeneficiary: 'yes' } : {}) }}
        button="policy.confirm"
        asksReason
      />
    );
  };
  return (
    <Card title={t('policy.proposed')}>
      <Muted>{t('policy.proposedWhy')}</Muted>
      <ListTable
        {...{ name: 'policy.proposed', rows: policy.proposed }}
        empty="policy.noProposals"
        columns={{
          ...columnsOf(useVisit(), props.nameOf),
          'word.status': confirmation,
        }}
      />
    </Card>
  );
}

function History(props: Props) {
  const { policy } = props;
  const { t } = useVisit();
  return (
    <TableCard
      {...{ title: 'word.history', rows: policy.changes }}
      empty="policy.noHistory"
      columns={{
        ...columnsOf(useVisit(), props.nameOf),
        'word.status': ({ isInForce }) => (
          <Badge
            tone={isInForce ? 'good' : 'plain'}
            text={t(isInForce ? 'policy.entered' : 'policy.onlyProposed')}
          />
        ),
      }}
    />
  );
}
