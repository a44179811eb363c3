// Breaks in Debian's Chromium: one is resolved by keyboard alone, and the pages are readable on a
// narrow and on a wide screen. Skipped, with a word, where there is no Chromium.
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { BreaksFixture } from '../support/breaks.js';
import { findFaults, hasChromium, openBrowser } from '../support/console-browser.js';
import { signedInPerson } from '../support/console-visitor.js';
import { serviceOnSandbox, type ServiceOnSandbox } from '../support/service-on-sandbox.js';

const breaks = '/console/accounts/main/breaks';
const document = '52998224725';

(hasChromium ? describe : describe.skip)('breaks in a browser', () => {
  let service: ServiceOnSandbox;
  let browser: Awaited<ReturnType<typeof openBrowser>>;
  let page: (typeof browser)['page'];
  const fixture = new BreaksFixture(() => service);

  beforeAll(async () => {
    service = await serviceOnSandbox();
    browser = await openBrowser(service.url);
    page = browser.page;
    const grant = { accountId: service.accountId, role: 'analyst' } as const;
    const { cookies } = await signedInPerson(service, 'analyst@example.com', grant);
    const stored = [...cookies].map(([name, value]) => ({ name, value, url: service.url }));
    await browser.context.addCookies(stored);
  }, 60_000);
  afterAll(async () => {
    await browser.close();
    await service.stop();
  });

  const press = (key: string) => page.keyboard.press(key);
  /** Presses a key that leads to another page. */
  const go = (key: string) => Promise.all([page.waitForNavigation(), press(key)]);
  const focused = async () =>
    (await page.evaluate(`document.activeElement.id || document.activeElement.textContent
      || document.activeElement.value`)) as string;

  /** Lines of one payer, of whom the larger may pay two things: it stands first. */
  const addBreaks = async () => {
    const earlier = await fixture.addUnexpectedLine({ amountCents: 25_000, document });
    await fixture.act(earlier.id, 'accept');
    const older = await fixture.addUnexpectedLine({ amountCents: 1_990 });
    const line = await fixture.addUnexpectedLine({
      amountCents: 15_000,
      document,
      notes: 'PIX RECEBIDO pedido-2041 ANA SOUZA',
    });
    await fixture.addExpectedPayment({ amountCents: 14_000, document });
    await fixture.addExpectedPayment({ amountCents: 15_000, document, reference: 'pedido-2041' });
    return { older, line };
  };

  it('is resolved by keyboard alone, and the next one opens', async () => {
    const { older, line } = await addBreaks();
    await browser.open(breaks);
    await press('?');
    await press('j');
    await press('j');
    await press('k');
    await press('x');
    expect(await page.locator('input[name=break]:checked').count()).toBe(1);
    // Beside the list, without another page.
    await page.waitForURL(`**/breaks?state=open&break=${line.id}`);
    await page.waitForSelector('#panel.chosen [name=candidate]');
    expect(await page.getAttribute('.queue tbody a[aria-current]', 'href')).toContain(line.id);
    await press('2');
    expect(await focused()).toBe('link-reason');
    await page.keyboard.type('1 j a 2');
    expect(await page.inputValue('#link-reason')).toContain('1 j a 2');
    await press('Escape');
    await press('1');
    expect(await page.locator('input[name=candidate]:checked').count()).toBe(1);
    await page.keyboard.type(' order 2041');
    await go('Enter');
    expect(page.url()).toContain(`${breaks}?state=open&did=link&from=${line.id}&break=${older.id}`);
    expect(await fixture.get(line.id)).toMatchObject({ state: 'resolved', resolution: 'link' });
    await press('a');
    expect(await focused()).toBe('accept-reason');
    await page.keyboard.type('a loan of the owner');
    await go('Enter');
    expect(await fixture.get(older.id)).toMatchObject({ state: 'resolved', resolution: 'accept' });
    expect(page.url()).toContain(`${breaks}?state=open&did=accept`);
    expect(browser.problems).toEqual([]);
  }, 60_000);

  it('has twenty rows in view, and on a narrow screen the list or the chosen break', async () => {
    const { line } = await addBreaks();
    for (let count = 0; count < 28; count += 1)
      await fixture.addUnexpectedLine({ amountCents: 1_000 + 37 * count });
    await page.setViewportSize({ width: 1440, height: 900 });
    await browser.open(`${breaks}?break=${line.id}`);
    const rows = (await page.evaluate(`(() => {
      const box = document.querySelector('.queue .scroll');
      const bottom = Math.min(innerHeight, box.getBoundingClientRect().bottom);
      box.scrollTop = 0;
      const head = box.querySelector('th').getBoundingClientRect().bottom;
      const rows = [...box.querySelectorAll('tbody tr')].map((row) => row.getBoundingClientRect());
      const seen = rows.filter((one) => one.top >= head - 1 && one.bottom <= bottom + 1);
      return { seen: seen.length, tallest: Math.max(...rows.map((one) => one.height)) };
    })()`)) as { seen: number; tallest: number };
    expect(rows.seen).toBeGreaterThanOrEqual(20);
    expect(rows.tallest).toBeLessThanOrEqual(36);
    await page.setViewportSize({ width: 390, height: 844 });
    const isSeen = (selector: string) => page.locator(selector).first().isVisible();
    expect([await isSeen('.queue'), await isSeen('#panel')]).toEqual([false, true]);
    await browser.open(breaks);
    expect(await isSeen('.queue')).toBe(true);
    expect(browser.problems).toEqual([]);
  }, 60_000);

  it('leads from the candidates to the list by keys, and to no action with Ctrl', async () => {
    const { line } = await addBreaks();
    await browser.open(`${breaks}/${line.id}?state=open`);
    await press('j');
    await press('ArrowDown');
    await press('k');
    await press('Enter');
    expect(await focused()).toBe('link-reason');
    await press('Escape');
    await press('Control+a');
    await press('Alt+a');
    expect(await page.locator('.actions details[open]').count()).toBe(0);
    await go('Escape');
    expect(page.url()).toBe(`${service.url}${breaks}?state=open`);
    expect(browser.problems).toEqual([]);
  }, 60_000);

  it('is readable on each page, in both languages', async () => {
    const { line, older } = await addBreaks();
    const long = await fixture.addUnexpectedLine({ document: null });
    await fixture.sql(
      `INSERT INTO webhook_counterparty (account_id, reference_kind, reference, is_credit, name)
       VALUES ($1, 'nsu', $2, true, $3)`,
      service.accountId,
      String(long.nsu),
      'X'.repeat(500),
    );
    await service.call('POST', `/v1/breaks/${line.id}/comments`, {
      body: { text: `Ana confirmou por telefone.\n${'y'.repeat(300)}` },
    });
    await fixture.act(line.id, 'note');
    await fixture.act(older.id, 'accept');
    const pages = {
      'breaks-list': breaks,
      'breaks-chosen': `${breaks}?break=${line.id}`,
      'breaks-resolved': `${breaks}?state=resolved`,
      'breaks-empty': `${breaks}?kind=disputed`,
      'break-open': `${breaks}/${line.id}`,
      'break-resolved': `${breaks}/${older.id}?state=`,
      'break-long': `${breaks}/${long.id}`,
      'breaks-preview': `${breaks}/bulk?action=accept&of=filter&state=`,
      'breaks-result': `${breaks}/bulk/result?action=accept&of=${line.id}~refused~break_changed&of=${older.id}~done`,
    };
    for (const language of ['pt', 'en'] as const) {
      for (const [name, path] of Object.entries(pages)) {
        expect((await browser.open(path))?.status()).toBe(200);
        expect(await page.getAttribute('html', 'lang')).toBe(language === 'pt' ? 'pt-BR' : 'en');
        await page.evaluate(
          `for (const one of document.querySelectorAll('details')) one.open = true`,
        );
        expect(await findFaults(page, `${name}-${language}`, browser.problems)).toEqual([]);
      }
      const other = language === 'pt' ? 'English' : 'Português';
      await browser.open(breaks);
      await Promise.all([page.waitForNavigation(), page.click(`text=${other}`)]);
    }
  }, 180_000);
});
