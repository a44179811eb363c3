// The pages of the console as a person finds them: from the menu, and from there by links.

/** What a visitor gets of a page; `visitorOf(…).get` is one. */
type Get = (path: string) => Promise<{ status: number; headers: Headers; text: string }>;

export interface FoundPage {
  /** `breaks/:id`: the address below the account, with each id as `:id`. */
  pattern: string;
  /** An address of that pattern. */
  path: string;
}

/**
 * One address of each pattern that links lead to, beginning at *Today*. Files are left out, and the
 * patterns of `without`. Throws for a link to a page that does not open.
 */
export async function findPages(
  get: Get,
  slug: string,
  without: readonly string[] = [],
): Promise<FoundPage[]> {
  const base = `/console/accounts/${slug}/`;
  const found = new Map<string, FoundPage>();
  const examined = new Set(without);
  let paths = [`${base}today`];
  while (paths.length > 0) {
    const next = new Map<string, string>();
    for (const path of paths) {
      const { status, headers, text } = await get(path);
      if (status !== 200) throw new Error(`${path} got ${status}`);
      const isFile = headers.has('content-disposition');
      if (isFile || !headers.get('content-type')?.startsWith('text/html')) continue;
      const pattern = pagePattern(path.slice(base.length));
      found.set(pattern, { pattern, path });
      for (const link of linksOf(text, base)) {
        const linked = pagePattern(link.slice(base.length));
        if (!examined.has(linked)) next.set(linked, link);
        examined.add(linked);
      }
    }
    paths = [...next.values()];
  }
  return [...found.values()].sort((one, other) => one.pattern.localeCompare(other.pattern));
}

/** Links of a page to pages of the account, in their order, without those named as files. */
function linksOf(text: string, base: string): string[] {
  return [...text.matchAll(/<a\b([^>]*)>/g)]
    .filter(([, attributes = '']) => !/\bdownload\b/.test(attributes))
    .map(([, attributes = '']) => /\bhref="([^"#]+)/.exec(attributes)?.[1] ?? '')
    .map((href) => href.replaceAll('&amp;', '&'))
    .filter((href) => href.startsWith(base));
}

/** Words are names of pages; what has a digit or a capital is an id. */
export function pagePattern(page: string): string {
  const [first = '', ...others] = (page.split('?')[0] ?? '').split('/');
  return [first, ...others.map((part) => (/^[a-z-]+$/.test(part) ? part : ':id'))].join('/');
}
