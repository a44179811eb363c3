// The console in Debian's Chromium: each page in both themes and languages, on a narrow and on a
// wide screen. Skipped, with a word, where there is no Chromium. CONSOLE_PICTURES names a folder
// for pictures of the pages.
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { translateInto } from '../../src/console/texts.js';
import { findFaults, hasChromium, openBrowser } from '../support/console-browser.js';
import { ConciliaProcess } from '../support/concilia-process.js';
import { fillConsole } from '../support/console-records.js';
import { findPages } from '../support/console-pages.js';
import { codeOf, goodPassword, secretOf, visitorOf } from '../support/console-visitor.js';
import { testDatabase, type TestDatabase } from '../support/postgres.js';
import { Receiver } from '../support/receiver.js';

const languages = { pt: 'pt-BR', en: 'en' } as const;

(hasChromium ? describe : describe.skip)('the console in a browser', () => {
  let database: TestDatabase;
  let bank: TestDatabase;
  let receiver: Receiver;
  let concilia: ConciliaProcess;
  let browser: Awaited<ReturnType<typeof openBrowser>>;

  beforeAll(async () => {
    [database, bank] = [await testDatabase('service'), await testDatabase('sandbox')];
    receiver = await Receiver.listen();
    concilia = await ConciliaProcess.with({
      DATABASE_URL: database.url,
      SANDBOX_DATABASE_URL: bank.url,
    });
    await concilia.start();
    browser = await openBrowser(concilia.serviceUrl);
  }, 90_000);
  afterAll(async () => {
    await browser.close();
    await concilia.stop();
    await receiver.close();
    await database.drop();
    await bank.drop();
  });

  /** Types into the fields in their order, and submits, by keyboard alone. */
  const type = async (...texts: string[]) => {
    const { page } = browser;
    for (const [index, text] of texts.entries()) {
      if (index > 0) await page.keyboard.press('Tab');
      await page.keyboard.type(text);
    }
    await Promise.all([page.waitForNavigation(), page.keyboard.press('Enter')]);
  };
  const expectGoodPage = async (name: string) =>
    expect(await findFaults(browser.page, name, browser.problems)).toEqual([]);

  it('takes the first person from the link to Today by keyboard', async () => {
    const { page, open } = browser;
    const [link = ''] = /\/console\/link\/[\w-]{43}/.exec(concilia.printed) ?? [];
    await open(link);
    await expectGoodPage('first-link');
    await type('first@example.com', goodPassword);
    expect(page.url()).toBe(`${concilia.serviceUrl}/console/authenticator`);
    await expectGoodPage('authenticator');
    await type(codeOf(secretOf(await page.content())));
    expect(await page.locator('[role=alert]').allInnerTexts()).toEqual([]);
    await expectGoodPage('recovery');
    await page.click('a.button');
    expect(page.url()).toBe(`${concilia.serviceUrl}/console/accounts/main/today`);
  }, 60_000);

  it('leads a newcomer to a reconciled payment, and shows its story', async () => {
    const { page, open, problems } = browser;
    const t = translateInto('pt');
    const press = (name: string) =>
      Promise.all([page.waitForNavigation(), page.click(`button:text-is("${name}")`)]);
    await open('/console/accounts/main/first-steps');
    await press(t('firstSteps.create'));
    await press(t('firstSteps.pay'));
    await page.waitForSelector(`text=${t('firstSteps.match')}`);
    await page.waitForSelector('.timeline li.good:nth-child(5)', { timeout: 20_000 });
    await Promise.all([page.waitForNavigation(), page.click(`text=${t('firstSteps.open')}`)]);
    const titles = await page.locator('.timeline li strong').allInnerTexts();
    const story = [/^Pedido/, /^Enviado/, /^O banco respondeu/, /^Crédito/, /^Concilia/];
    const places = story.map((pattern) => titles.findIndex((title) => pattern.test(title)));
    expect([titles, places]).toEqual([titles, [...places].sort((one, other) => one - other)]);
    expect(places).not.toContain(-1);
    // A sync may read the line before its webhook comes.
    expect(titles.findIndex((title) => title.startsWith('Webhook'))).toBeGreaterThan(places[1]!);
    expect(problems).toEqual([]);
  }, 60_000);

  it('shows on Today, while it is open, what the test payer does', async () => {
    const { page, open, context, problems } = browser;
    const today = await context.newPage();
    await today.goto(`${concilia.serviceUrl}/console/accounts/main/today`);
    await open('/console/accounts/main/payer');
    await page.fill('form[action$="/payer/send"] input[name=amount]', '1.234,56');
    await Promise.all([page.waitForNavigation(), page.click('form[action$="/payer/send"] button')]);
    await page.waitForSelector('#records .badge.bad', { timeout: 20_000 });
    await today.waitForSelector('#today .state.bad', { timeout: 20_000 });
    await today.close();
    expect(problems).toEqual([]);
  }, 60_000);

  describe('with records of all kinds', () => {
    let pages: { name: string; path: string }[];

    beforeAll(async () => {
      await fillConsole(concilia, database.pool, receiver);
      const visitor = visitorOf({ url: concilia.serviceUrl });
      for (const { name, value } of await browser.context.cookies())
        visitor.cookies.set(name, value);
      const [filled, hostile] = [
        await findPages(visitor.get, 'book'),
        await findPages(visitor.get, 'main'),
      ];
      const nameOf = (pattern: string) => pattern.replaceAll('/', '-').replaceAll(':', '');
      pages = [
        ...filled.map(({ pattern, path }) => ({ name: nameOf(pattern), path })),
        ...hostile.map(({ pattern, path }) => ({ name: `main-${nameOf(pattern)}`, path })),
        { name: 'sessions', path: '/console/sessions' },
        { name: 'password', path: '/console/password' },
        { name: 'step-up', path: '/console/step-up' },
        { name: 'accounts', path: '/console/accounts' },
        { name: 'components', path: '/console/components' },
        { name: 'no-page', path: '/console/none' },
      ];
    }, 180_000);

    it.each(['pt', 'en'] as const)(
      'is readable on each page in %s',
      async (language) => {
        const { context, page, open, problems } = browser;
        const faults: string[] = [];
        const cookie = { name: 'concilia-language', value: language, url: concilia.serviceUrl };
        await context.addCookies([cookie]);
        for (const { name, path } of pages) {
          await open(path);
          expect(await page.getAttribute('html', 'lang')).toBe(languages[language]);
          faults.push(...(await findFaults(page, `${name}-${language}`, problems)));
        }
        expect(faults).toEqual([]);
      },
      1_200_000,
    );
  });

  it('refreshes Today without loading the page again', async () => {
    const { page, open, problems } = browser;
    await open('/console/accounts/main/today');
    await page.evaluate(`(document.body.dataset.same = 'yes')`);
    const refreshed = page.waitForResponse(
      (response) => response.request().isNavigationRequest() === false,
    );
    await page.evaluate(`htmx.ajax('GET', location.pathname, {
      target: '#today', swap: 'innerHTML' })`);
    expect((await refreshed).status()).toBe(200);
    await page.waitForSelector('#today .state');
    expect(await page.getAttribute('body', 'data-same')).toBe('yes');
    expect(problems).toEqual([]);
  }, 60_000);
});
