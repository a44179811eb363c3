// Where the console begins: the account of a person, or the choice between several. Also the choice
// of the language, and the pages that do not exist.
import { Controller, Get, Redirect as HttpRedirect } from '@nestjs/common';
import { Settings } from '../../platform/settings/config.js';
import { Operators } from '../../access/people/operators.service.js';
import { AppError } from '../../platform/errors.js';
import { ConsoleAction, ConsolePage, Visiting } from '../serving/console-page.decorator.js';
import { Card, Empty, Cards, Muted } from '../kit/elements.js';
import { sessionOf, type Visit } from '../visit.js';
import { Redirect, Shown, type PageAnswer } from '../page.js';
import { cookieNames, languageCookie, readNext, writeCookie } from '../requests.js';
import { languages } from '../texts/languages.js';

const yearSeconds = 365 * 86_400;
const firstPage = 'today';

@Controller()
export class AccountPages {
  constructor(
    private readonly operators: Operators,
    private readonly settings: Settings,
  ) {}

  @Get('/')
  @HttpRedirect('/console', 302)
  root(): void {}

  @ConsolePage('/console', 'session')
  async begin(@Visiting() visit: Visit): Promise<PageAnswer> {
    const accounts = await this.operators.listVisibleAccounts(sessionOf(visit).operatorId);
    const [only, ...others] = accounts;
    if (only && others.length === 0)
      return new Redirect(`/console/accounts/${only.slug}/${firstPage}`);
    return new Redirect('/console/accounts');
  }

  @ConsolePage('/console/accounts', 'session')
  async choose(@Visiting() visit: Visit): Promise<PageAnswer> {
    const { t } = visit;
    const accounts = await this.operators.listVisibleAccounts(sessionOf(visit).operatorId);
    const body =
      accounts.length === 0 ? (
        <Empty>{t('accounts.empty')}</Empty>
      ) : (
        <Cards>
          {accounts.map(({ slug, name, role }) => (
            <Card title={<a href={`/console/accounts/${slug}/${firstPage}`}>{name ?? slug}</a>}>
              <Muted>{t(`role.${role}`)}</Muted>
            </Card>
          ))}
        </Cards>
      );
    return new Shown(t('accounts.title'), body);
  }

  @ConsolePage('/console/accounts/:account', 'view')
  account(@Visiting() { params }: Visit): PageAnswer {
    return new Redirect(`/console/accounts/${params.account}/${firstPage}`);
  }

  @ConsoleAction('/console/language', 'nobody', 'own')
  language(@Visiting() { form }: Visit): PageAnswer {
    const language = languages.find((one) => one === form.get('language'));
    if (!language) throw new AppError('validation_failed');
    const { isSecure } = cookieNames(this.settings.publicUrl);
    const options = { isSecure, maxAgeSeconds: yearSeconds };
    return new Redirect(readNext(form.get('next')), [
      writeCookie(languageCookie, language, options),
    ]);
  }

  @ConsolePage('/console/*', 'nobody')
  noPage(): PageAnswer {
    throw new AppError('not_found');
  }
}
