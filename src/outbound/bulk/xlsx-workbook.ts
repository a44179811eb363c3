// Reads what the parts of an XLSX file are for, by their relationships: its sheets, the texts that
// cells share and how styles show numbers.
import { damaged, XlsxError, type XlsxArchive } from '../../platform/files/xlsx-archive.js';
import { fieldError } from '../../bank-contract/field-errors.js';
import { visitXml } from '../../platform/files/xml-reader.js';

export interface Sheet {
  name: string;
  isVisible: boolean;
  part: string;
}

export interface Workbook {
  sheets: readonly Sheet[];
  texts: readonly string[];
  formats: readonly Format[];
  /** The first day is in 1904, as in files of older Macs. */
  isFrom1904: boolean;
}

/** How a style shows a number: as a day, with leading zeros, or otherwise. */
export type Format = 'day' | 'other' | { zeros: number };

/** `maxBytes`: of each of the parts, unpacked. Throws XlsxError. */
export async function readWorkbook(archive: XlsxArchive, maxBytes: number): Promise<Workbook> {
  const root = await readRelations(archive, '', maxBytes);
  const part = root.find(({ kind }) => kind === 'officeDocument')?.part;
  if (part === undefined) throw new XlsxError(fieldError('not_xlsx'));
  const relations = await readRelations(archive, part, maxBytes);
  const partOf = (kind: string) => relations.find((relation) => relation.kind === kind)?.part;
  const sheets: Sheet[] = [];
  let isFrom1904 = false;
  await visitXml(
    archive,
    { part, maxBytes },
    {
      open: (path, attribute) => {
        if (path === '/workbook/workbookPr') isFrom1904 = isTrue(attribute('date1904'));
        if (path !== '/workbook/sheets/sheet') return;
        const relation = relations.find(({ id }) => id === attribute('r:id'));
        if (!relation) throw damaged();
        // Charts and dialogs are sheets without rows.
        if (relation.kind !== 'worksheet') return;
        const isVisible = !/hidden/i.test(attribute('state') ?? '');
        sheets.push({ name: attribute('name') ?? '', isVisible, part: relation.part });
      },
    },
  );
  const texts = await readSharedTexts(archive, { part: partOf('sharedStrings'), maxBytes });
  const formats = await readFormats(archive, { part: partOf('styles'), maxBytes });
  return { sheets, texts, formats, isFrom1904 };
}

interface PartToRead {
  part: string | undefined;
  maxBytes: number;
}

interface Relation {
  id: string;
  /** The last word of its type. */
  kind: string;
  part: string;
}

/** The relations of a part, or of the file. Those that lead out of the file are left out. */
async function readRelations(
  archive: XlsxArchive,
  source: string,
  maxBytes: number,
): Promise<Relation[]> {
  const part = source.replace(/([^/]*)$/, '_rels/$1.rels');
  const relations: Relation[] = [];
  if (!archive.has(part)) return relations;
  await visitXml(
    archive,
    { part, maxBytes },
    {
      open: (path, attribute) => {
        if (path !== '/Relationships/Relationship') return;
        const [id = '', target = ''] = [attribute('Id'), attribute('Target')];
        if (attribute('TargetMode')?.toLowerCase() === 'external') return;
        if (relations.some((relation) => relation.id === id)) throw damaged();
        const kind = attribute('Type')?.split('/').at(-1) ?? '';
        relations.push({ id, kind, part: resolvedPart(source, target) });
      },
    },
  );
  return relations;
}

function resolvedPart(source: string, target: string): string {
  try {
    const { pathname } = new URL(target, `http://package/${source}`);
    return decodeURIComponent(pathname.slice(1));
  } catch (cause) {
    throw damaged(cause);
  }
}

async function readSharedTexts(archive: XlsxArchive, read: PartToRead): Promise<string[]> {
  const texts: string[] = [];
  const { part, maxBytes } = read;
  if (part === undefined) return texts;
  let text = '';
  await visitXml(
    archive,
    { part, maxBytes },
    {
      close: (path, content) => {
        // Not the phonetic guide that Japanese files have.
        if (path === '/sst/si/t' || path === '/sst/si/r/t') text += unescaped(content);
        if (path !== '/sst/si') return;
        texts.push(text);
        text = '';
      },
    },
  );
  return texts;
}

async function readFormats(archive: XlsxArchive, read: PartToRead): Promise<Format[]> {
  const codes = new Map<string, string>();
  const formats: Format[] = [];
  const { part, maxBytes } = read;
  if (part === undefined) return formats;
  await visitXml(
    archive,
    { part, maxBytes },
    {
      open: (path, attribute) => {
        const id = attribute('numFmtId') ?? '0';
        if (path === '/styleSheet/numFmts/numFmt') codes.set(id, attribute('formatCode') ?? '');
        if (path === '/styleSheet/cellXfs/xf')
          formats.push(formatOf(Number(id), unescaped(codes.get(id) ?? '')));
      },
    },
  );
  return formats;
}

function formatOf(id: number, code: string): Format {
  if ((id >= 14 && id <= 17) || id === 22) return 'day';
  const shown = code.replace(/"[^"]*"|\[[^\]]*\]|\\./g, '');
  if (/^0{2,20}$/.test(shown)) return { zeros: shown.length };
  return /d/i.test(shown) && /[my]/i.test(shown) ? 'day' : 'other';
}

export const isTrue = (value: string | undefined): boolean => value === '1' || value === 'true';

/** Characters that XML cannot hold stand as `_xHHHH_`, and such a text as `_x005F_xHHHH_`. */
export function unescaped(text: string): string {
  return text.replace(/_x([0-9a-f]{4})_/gi, (_, code: string) =>
    String.fromCharCode(parseInt(code, 16)),
  );
}
