// The console in Debian's Chromium: each page in both themes and languages, on a narrow and on a
// wide screen. Skipped, with a word, where there is no Chromium. CONSOLE_PICTURES names a folder
// for pictures of the pages.
import { existsSync, mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { chromium, type Browser, type Page } from 'playwright-core';
import { Operators } from '../../src/operators/operators.service.js';
import { StatementService } from '../../src/statement/statement.service.js';
import { slip } from '../contract/samples.js';
import { codeOf, goodPassword, secretOf } from '../support/console-visitor.js';
import { serviceApplication, type ServiceApplication } from '../support/service-application.js';

const executablePath = '/usr/bin/chromium';
const hasChromium = existsSync(executablePath);
if (!hasChromium) console.log(`skipped: there is no ${executablePath} (apt-get install chromium)`);
const pictures = process.env.CONSOLE_PICTURES;

(hasChromium ? describe : describe.skip)('the console in a browser', () => {
  let service: ServiceApplication;
  let browser: Browser;
  let page: Page;
  const problems: string[] = [];

  beforeAll(async () => {
    service = await serviceApplication();
    browser = await chromium.launch({ executablePath, args: ['--no-sandbox'] });
    const context = await browser.newContext({ locale: 'pt-BR' });
    page = await context.newPage();
    page.on('console', (message) => {
      // A form that is answered with its problem has such a status.
      const isStatus = message.text().includes('the server responded with a status of');
      if (['error', 'warning'].includes(message.type()) && !isStatus) problems.push(message.text());
    });
    page.on('pageerror', (error) => problems.push(error.message));
    page.on('request', (request) => {
      if (!request.url().startsWith(service.url) && !request.url().startsWith('data:'))
        problems.push(`a request to ${request.url()}`);
    });
    if (pictures) mkdirSync(pictures, { recursive: true });
  }, 60_000);
  afterAll(async () => {
    await browser.close();
    await service.stop();
  });

  const open = (path: string) => page.goto(`${service.url}${path}`);
  /** Types into the fields in their order, and submits, by keyboard alone. */
  const type = async (...texts: string[]) => {
    for (const [index, text] of texts.entries()) {
      if (index > 0) await page.keyboard.press('Tab');
      await page.keyboard.type(text);
    }
    await Promise.all([page.waitForNavigation(), page.keyboard.press('Enter')]);
  };

  /** Looks at the open page as people with all screens and settings see it. */
  const expectReadable = async (name: string) => {
    for (const colorScheme of ['light', 'dark'] as const)
      for (const width of [390, 1440]) {
        await page.emulateMedia({ colorScheme });
        await page.setViewportSize({ width, height: 900 });
        const seen = await page.evaluate(
          `({ content: document.documentElement.scrollWidth, title: document.title })`,
        );
        const { content } = seen as { content: number };
        expect([name, width, content]).toEqual([name, width, width]);
        if (pictures)
          await page.screenshot({
            path: join(pictures, `${name}-${width}-${colorScheme}.png`),
            fullPage: true,
          });
      }
    expect([name, problems]).toEqual([name, []]);
  };

  it('takes the first person from the link to Today by keyboard', async () => {
    const token = await service.application.get(Operators, { strict: false }).createFirstLink();
    await open(`/console/link/${token}`);
    await expectReadable('first-link');
    await type('first@example.com', goodPassword);
    expect(page.url()).toBe(`${service.url}/console/authenticator`);
    await expectReadable('authenticator');
    await type(codeOf(secretOf(await page.content()), -1));
    await expectReadable('recovery');
    await page.click('a.button');
    expect(page.url()).toBe(`${service.url}/console/accounts/main/today`);
  }, 60_000);

  it('is readable on each page', async () => {
    const body = slip({ correlationId: 'seen-1', Amount: 1234.56 });
    await service.sandbox.call('POST', '/baas/v1/charges', { body });
    await service.sandbox.call('POST', '/baas/v1/charges/seen-1/pay', {});
    const account = '/console/accounts/main';
    const { id } = await service.database.prisma.bankAccount.findFirstOrThrow();
    await service.application.get(StatementService, { strict: false }).sync(id);
    const pages = {
      today: `${account}/today`,
      people: `${account}/people`,
      audit: `${account}/audit?all=1`,
      sessions: '/console/sessions',
      password: '/console/password',
      'step-up': '/console/step-up',
      accounts: '/console/accounts',
      'no-page': '/console/none',
    };
    for (const language of ['pt', 'en'] as const) {
      for (const [name, path] of Object.entries(pages)) {
        await open(path);
        expect(await page.getAttribute('html', 'lang')).toBe(language === 'pt' ? 'pt-BR' : 'en');
        await expectReadable(`${name}-${language}`);
      }
      await open(`${account}/today`);
      const other = language === 'pt' ? 'English' : 'Português';
      await Promise.all([page.waitForNavigation(), page.click(`text=${other}`)]);
    }
  }, 120_000);

  it('refreshes Today without loading the page again', async () => {
    await open('/console/accounts/main/today');
    await page.evaluate(`(document.body.dataset.same = 'yes')`);
    const refreshed = page.waitForResponse(
      (response) => response.request().isNavigationRequest() === false,
    );
    await page.evaluate(`htmx.ajax('GET', location.pathname, {
      target: '#today', swap: 'outerHTML' })`);
    expect((await refreshed).status()).toBe(200);
    await page.waitForSelector('#today .state');
    expect(await page.getAttribute('body', 'data-same')).toBe('yes');
    expect(problems).toEqual([]);
  }, 60_000);
});
