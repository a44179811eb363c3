// The account's own page: its facts, and what an admin may change of it.
import { Controller } from '@nestjs/common';
import { AccountsService } from '../../access/accounts/accounts.service.js';
import { BankService } from '../../bank/bank.service.js';
import { AccountMode } from '../../generated/service/enums.js';
import { RestoreGuard } from '../../outbound/operations/restores.service.js';
import { AppError } from '../../platform/errors.js';
import { ActorNames } from '../actor-names.service.js';
import {
  ConsoleAction,
  ConsolePage,
  Visiting,
  ShownAgainBy,
} from '../serving/console-page.decorator.js';
import { Message } from '../kit/elements.js';
import { Redirect, Shown, type PageAnswer } from '../page.js';
import { accountOf, callerOf, requireReason, sessionOf, type Visit } from '../visit.js';
import { AccountReading } from './account-facts.service.js';
import {
  AccountForms,
  NewAccountForm,
  readBankDetails,
  readCredentials,
  readNameAndWeight,
  readNewAccount,
} from './account-forms.js';
import { AccountFactCards, ModeHistory } from './account-page.js';

const needs = 'manage connections';
const subject = 'account :account';

type Changes = ReturnType<typeof readNameAndWeight>;

@Controller()
export class AccountSettingsPages {
  constructor(
    private readonly reading: AccountReading,
    private readonly accounts: AccountsService,
    private readonly restores: RestoreGuard,
    private readonly bank: BankService,
    private readonly names: ActorNames,
  ) {}

  @ConsolePage('account', 'view', { title: 'word.account', section: 'settings', place: 70 })
  async show(@Visiting() visit: Visit): Promise<PageAnswer> {
    const { t } = visit;
    const facts = await this.reading.read(accountOf(visit).slug);
    const profile = this.bank.profile.name;
    const actors = facts.mode.changes.map(({ actor }) => actor);
    const nameOf = await this.names.find(visit, actors);
    const body = (
      <>
        {visit.query.has('saved') && <Message kind="good">{t('account.saved')}</Message>}
        {visit.query.has('asked') && <Message kind="warn">{t('account.releaseAsked')}</Message>}
        {facts.mode.alarmNsu !== null && (
          <Message kind="bad">
            {t('account.alarmStopped', { nsu: facts.mode.alarmNsu.toString() })}
            {facts.mode.releaseRequestedBy.map((actor) => (
              <p>{t('account.releaseBy', { name: nameOf(actor) })}</p>
            ))}
          </Message>
        )}
        <AccountFactCards facts={facts} profile={profile} />
        <ModeHistory facts={facts} nameOf={nameOf} />
        {visit.may(needs) && (
          <>
            {isEverywhere(visit) && (
              <p>
                <a href={visit.to('account/new')}>{t('account.add')}</a>
              </p>
            )}
            <AccountForms facts={facts} />
          </>
        )}
      </>
    );
    return new Shown(t('word.account'), body);
  }

  @ConsoleAction('account', needs, 'change account', subject)
  @ShownAgainBy('show')
  async change(@Visiting() visit: Visit): Promise<PageAnswer> {
    return this.update(visit, readNameAndWeight(visit));
  }

  @ConsoleAction('account/details', needs, 'change bank details', subject)
  @ShownAgainBy('show')
  async changeDetails(@Visiting() visit: Visit): Promise<PageAnswer> {
    return this.update(visit, readBankDetails(visit));
  }

  @ConsoleAction('account/credentials', needs, 'change credentials', subject)
  @ShownAgainBy('show')
  async changeCredentials(@Visiting() visit: Visit): Promise<PageAnswer> {
    return this.update(visit, readCredentials(visit));
  }

  @ConsoleAction('account/mode', needs, 'change account mode', subject)
  @ShownAgainBy('show')
  async changeMode(@Visiting() visit: Visit): Promise<PageAnswer> {
    const { form } = visit;
    const mode = Object.values(AccountMode).find((one) => one === form.get('mode'));
    if (!mode) throw new AppError('validation_failed');
    const registers = form.get('registersWebhooks');
    const changed = await this.restores.changeModeByPerson(accountOf(visit).slug, {
      mode,
      registersWebhooks: registers === 'yes' || (registers === 'no' ? false : undefined),
      actor: callerOf(visit).actor,
      reason: requireReason(visit),
    });
    if (mode !== changed.mode) return new Redirect(visit.to('account?asked=1'));
    return saved(visit);
  }

  @ConsolePage('account/new', needs)
  newAccount(@Visiting() visit: Visit): PageAnswer {
    assertEverywhere(visit);
    return new Shown(visit.t('account.add'), <NewAccountForm />);
  }

  @ConsoleAction(
    'account/new',
    needs,
    'add account',
    ({ form }) => `account ${/^[a-z0-9-]{1,60}$/.exec(form.get('slug') ?? '')?.[0] ?? '-'}`,
  )
  @ShownAgainBy('newAccount')
  async add(@Visiting() visit: Visit): Promise<PageAnswer> {
    assertEverywhere(visit);
    const { credentials, name = null, goLiveAt, ...given } = readNewAccount(visit);
    const fields = { ...given, name, goLiveAt: goLiveAt ? new Date(goLiveAt) : null };
    const { slug } = await this.accounts.create(fields, credentials);
    return new Redirect(`/console/accounts/${slug}/account`);
  }

  private async update(visit: Visit, changes: Changes): Promise<PageAnswer> {
    await this.accounts.update(accountOf(visit).slug, changes);
    return saved(visit);
  }
}

const saved = (visit: Visit) => new Redirect(visit.to('account?saved=1'));

/** An account is added by those who may see it afterwards. */
function assertEverywhere(visit: Visit): void {
  if (!isEverywhere(visit)) throw new AppError('forbidden');
}

function isEverywhere(visit: Visit): boolean {
  return sessionOf(visit).roleEverywhere === 'admin';
}
