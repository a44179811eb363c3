// The account's own page: its facts, and what an admin may change of it.
import { Controller } from '@nestjs/common';
import { AccountsService } from '../../access/accounts/accounts.service.js';
import type { updateAccount } from '../../access/accounts/accounts.schema.js';
import { BankService } from '../../bank/bank.service.js';
import type { RouteInput } from '../../bank-contract/route.js';
import { AccountMode } from '../../generated/service/enums.js';
import { RestoreGuard } from '../../outbound/operations/restores.service.js';
import { AppError } from '../../platform/errors.js';
import { ActorNames } from '../actor-names.service.js';
import { ConsoleAction, ConsolePage, Visiting } from '../serving/console-page.decorator.js';
import { Message, StepUpNotice } from '../kit/frame.js';
import { Redirect, Shown, type PageAnswer } from '../page.js';
import type { Visit } from '../requests.js';
import { problemIn } from '../problems.js';
import { accountOf, callerOf, isAllowedTo, pathTo, requireReason, sessionOf } from '../visit.js';
import { AccountReading } from './account-facts.service.js';
import {
  describeIssues,
  readBankDetails,
  readCredentials,
  readNameAndWeight,
  readNewAccount,
  type ReadForm,
} from './account-form.js';
import {
  CredentialsForm,
  DetailsForm,
  ModeForm,
  NameForm,
  NewAccountForm,
} from './account-forms.js';
import { AccountFactCards, ModeHistory } from './account-page.js';

const account = '/console/accounts/:account/account';
const needs = 'manage connections';
const subject = (visit: Visit) => `account ${accountOf(visit).slug}` as const;

type Change = RouteInput<typeof updateAccount>['body'];

@Controller()
export class AccountSettingsPages {
  constructor(
    private readonly reading: AccountReading,
    private readonly accounts: AccountsService,
    private readonly restores: RestoreGuard,
    private readonly bank: BankService,
    private readonly names: ActorNames,
  ) {}

  @ConsolePage({
    path: account,
    needs: 'view',
    menu: { title: 'account.title', section: 'settings', place: 70 },
  })
  async show(@Visiting() visit: Visit): Promise<PageAnswer> {
    return this.page(visit);
  }

  @ConsoleAction({ path: account, needs, audit: { action: 'change account', subject } })
  async change(@Visiting() visit: Visit): Promise<PageAnswer> {
    return this.update(visit, readNameAndWeight(visit.form));
  }

  @ConsoleAction({
    path: `${account}/details`,
    needs,
    audit: { action: 'change bank details', subject },
  })
  async changeDetails(@Visiting() visit: Visit): Promise<PageAnswer> {
    return this.update(visit, readBankDetails(visit.form));
  }

  @ConsoleAction({
    path: `${account}/credentials`,
    needs,
    audit: { action: 'change credentials', subject },
  })
  async changeCredentials(@Visiting() visit: Visit): Promise<PageAnswer> {
    return this.update(visit, readCredentials(visit.form));
  }

  @ConsoleAction({
    path: `${account}/mode`,
    needs,
    audit: { action: 'change account mode', subject },
  })
  async changeMode(@Visiting() visit: Visit): Promise<PageAnswer> {
    const { form } = visit;
    const mode = Object.values(AccountMode).find((one) => one === form.get('mode'));
    if (!mode) throw new AppError('validation_failed');
    const registers = form.get('registersWebhooks');
    return this.orProblem(visit, () =>
      this.restores.changeMode(accountOf(visit).slug, {
        mode,
        registersWebhooks: registers === 'yes' || (registers === 'no' ? false : undefined),
        actor: callerOf(visit).actor,
        reason: requireReason(visit),
      }),
    );
  }

  @ConsolePage({ path: `${account}/new`, needs })
  newAccount(@Visiting() visit: Visit): PageAnswer {
    assertEverywhere(visit);
    return newAccountPage(visit);
  }

  @ConsoleAction({
    path: `${account}/new`,
    needs,
    audit: {
      action: 'add account',
      subject: ({ form }) =>
        `account ${/^[a-z0-9-]{1,60}$/.exec(form.get('slug') ?? '')?.[0] ?? '-'}`,
    },
  })
  async add(@Visiting() visit: Visit): Promise<PageAnswer> {
    assertEverywhere(visit);
    const read = readNewAccount(visit.form);
    if ('issues' in read) return newAccountPage(visit, problemOfIssues(visit, read));
    const { credentials, name = null, goLiveAt, ...given } = read.body;
    const fields = { ...given, name, goLiveAt: goLiveAt ? new Date(goLiveAt) : null };
    try {
      const { slug } = await this.accounts.create(fields, credentials);
      return new Redirect(`/console/accounts/${slug}/account`);
    } catch (error) {
      return newAccountPage(visit, problemOf(visit, error));
    }
  }

  private async update(visit: Visit, read: ReadForm<Change>): Promise<PageAnswer> {
    if ('issues' in read) return this.page(visit, problemOfIssues(visit, read));
    return this.orProblem(visit, () => this.accounts.update(accountOf(visit).slug, read.body));
  }

  private async orProblem(visit: Visit, change: () => Promise<unknown>): Promise<PageAnswer> {
    try {
      await change();
      return new Redirect(pathTo(visit, 'account?saved=1'));
    } catch (error) {
      return this.page(visit, problemOf(visit, error));
    }
  }

  private async page(visit: Visit, problem: string | null = null): Promise<Shown> {
    const { t } = visit;
    const facts = await this.reading.read(accountOf(visit).slug);
    const profile = this.bank.profile.name;
    const actors = facts.mode.changes.map(({ actor }) => actor);
    const nameOf = await this.names.find(visit, actors);
    const body = (
      <>
        {problem && <Message kind="bad">{problem}</Message>}
        {visit.query.has('saved') && <Message kind="good">{t('account.saved')}</Message>}
        <AccountFactCards visit={visit} facts={facts} profile={profile} />
        <ModeHistory visit={visit} facts={facts} nameOf={nameOf} />
        {isAllowedTo(visit, needs) && (
          <>
            <StepUpNotice visit={visit} />
            {isEverywhere(visit) && (
              <p>
                <a href={pathTo(visit, 'account/new')}>{t('account.add')}</a>
              </p>
            )}
            <div class="cards">
              <NameForm visit={visit} facts={facts} />
              <ModeForm visit={visit} facts={facts} />
            </div>
            <DetailsForm visit={visit} facts={facts} />
            <CredentialsForm visit={visit} facts={facts} />
          </>
        )}
      </>
    );
    return new Shown(t('account.title'), body, { status: problem ? 422 : 200 });
  }
}

/** An account is added by those who may see it afterwards. */
function assertEverywhere(visit: Visit): void {
  if (!isEverywhere(visit)) throw new AppError('forbidden');
}

function isEverywhere(visit: Visit): boolean {
  return sessionOf(visit).roleEverywhere === 'admin';
}

function problemOfIssues(
  { t, language }: Visit,
  { issues }: Extract<ReadForm<unknown>, { issues: unknown }>,
): string {
  return t('account.invalid', { fields: describeIssues(t, language, issues) });
}

function problemOf(visit: Visit, error: unknown): string {
  return problemIn(visit, error, (issues) => problemOfIssues(visit, { issues }));
}

function newAccountPage(visit: Visit, problem: string | null = null): Shown {
  const { t } = visit;
  const body = (
    <>
      {problem && <Message kind="bad">{problem}</Message>}
      <StepUpNotice visit={visit} />
      <NewAccountForm visit={visit} />
    </>
  );
  return new Shown(t('account.add'), body, { status: problem ? 422 : 200 });
}
