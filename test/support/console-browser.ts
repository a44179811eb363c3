// A person's browser of the tests: Debian's Chromium, signed in, with a list of what went wrong on
// its pages. CONSOLE_PICTURES names a folder for pictures of the pages.
import { existsSync, mkdirSync, readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { chromium, type Page } from 'playwright-core';

const executablePath = '/usr/bin/chromium';
export const hasChromium = existsSync(executablePath);
if (!hasChromium) console.log(`skipped: there is no ${executablePath} (apt-get install chromium)`);
const pictures = process.env.CONSOLE_PICTURES;
const axe = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');

/** Of axe: what a person with a disability cannot use, or hardly. */
const graveImpacts = ['serious', 'critical'];

interface AxeFinding {
  id: string;
  impact: string;
  nodes: { html: string; failureSummary: string }[];
}

export async function openBrowser(url: string) {
  const browser = await chromium.launch({ executablePath, args: ['--no-sandbox'] });
  const context = await browser.newContext({ locale: 'pt-BR' });
  const page = await context.newPage();
  if (pictures) mkdirSync(pictures, { recursive: true });
  return {
    ...{ context, page, problems: watchProblems(page, url) },
    open: (path: string) => page.goto(`${url}${path}`),
    close: () => browser.close(),
  };
}

/** Errors and warnings of the pages, scripts that ran from data, and requests to other hosts. */
function watchProblems(page: Page, url: string): string[] {
  const problems: string[] = [];
  page.on('console', (message) => {
    // A form that is answered with its problem has such a status.
    const isStatus = message.text().includes('the server responded with a status of');
    if (['error', 'warning'].includes(message.type()) && !isStatus) problems.push(message.text());
  });
  page.on('pageerror', (error) => problems.push(error.message));
  page.on('dialog', (dialog) => {
    problems.push(`a dialog: ${dialog.message()}`);
    void dialog.dismiss();
  });
  page.on('request', (request) => {
    if (!request.url().startsWith(url) && !request.url().startsWith('data:'))
      problems.push(`a request to ${request.url()}`);
  });
  return problems;
}

/** Themes differ in colours alone: the dark one is for pictures. */
const screens = (pictures ? (['light', 'dark'] as const) : (['light'] as const)).flatMap(
  (colorScheme) => [390, 1440].map((width) => ({ colorScheme, width })),
);

/** Where the open page is wider than the screen, of the screens and settings that people have. */
async function findWidths(page: Page, name: string): Promise<string[]> {
  const found: string[] = [];
  for (const { colorScheme, width } of screens) {
    await page.emulateMedia({ colorScheme });
    await page.setViewportSize({ width, height: 900 });
    const content = await page.evaluate('document.documentElement.scrollWidth');
    if (content !== width) found.push(`${String(content)} px wide on a screen of ${width} px`);
    if (!pictures) continue;
    const path = join(pictures, `${name}-${width}-${colorScheme}.png`);
    await page.screenshot({ path, fullPage: true });
  }
  return found;
}

/**
 * What is wrong with the open page. `problems` are those that the browser reported so far: they are
 * taken from the list.
 */
export async function findFaults(page: Page, name: string, problems: string[]): Promise<string[]> {
  const words = await findMachineWords(page);
  // Languages differ in words alone.
  const isTranslated = (await page.getAttribute('html', 'lang')) !== 'pt-BR';
  const barriers = isTranslated ? [] : await findBarriers(page);
  const faults = [...words, ...barriers, ...(await findWidths(page, name)), ...problems.splice(0)];
  return [...new Set(faults)].map((fault) => `${name}: ${fault}`);
}

/** What axe finds on the open page that is serious or critical; themes differ in colours alone. */
async function findBarriers(page: Page): Promise<string[]> {
  const found = new Set<string>();
  await page.evaluate(axe);
  for (const [colorScheme, rules] of [
    ['light', {}],
    ['dark', { runOnly: ['color-contrast'] }],
  ] as const) {
    await page.emulateMedia({ colorScheme });
    const options = JSON.stringify({ resultTypes: ['violations'], ...rules });
    const findings = (await page.evaluate(
      `axe.run(document, ${options}).then(({ violations }) => violations)`,
    )) as AxeFinding[];
    for (const { id, impact, nodes } of findings.filter((one) => graveImpacts.includes(one.impact)))
      found.add(`${id} (${impact}): ${nodes[0]?.html} ${nodes[0]?.failureSummary}`);
  }
  return [...found];
}

/**
 * What a person reads that is written for machines: names with underscores, and times that are not
 * of São Paulo. Identifiers and bodies stand in `code` and `pre`.
 */
async function findMachineWords(page: Page): Promise<string[]> {
  const text = (await page.evaluate(`(() => {
    const copy = document.body.cloneNode(true);
    for (const element of copy.querySelectorAll('code, pre, script, style, textarea'))
      element.remove();
    document.body.append(copy);
    const text = copy.innerText;
    copy.remove();
    return text;
  })()`)) as string;
  return text.match(/\b[a-z]+(?:_[a-z]+)+\b|\d{4}-\d\d-\d\dT\d\d:\S*|\bundefined\b|\bNaN\b/g) ?? [];
}
