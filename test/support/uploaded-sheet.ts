// Writes XLSX files for tests: a ZIP archive with the parts that a workbook needs.
import { crc32, deflateRawSync } from 'node:zlib';

const main = 'xmlns="http://schemas.openxmlformats.org/spreadsheetml/2006/main"';
const documents = 'http://schemas.openxmlformats.org/officeDocument/2006/relationships';
const packages = 'http://schemas.openxmlformats.org/package/2006/relationships';

const relationships = (targets: readonly (readonly [kind: string, target: string])[]) => {
  const each = targets.map(
    ([kind, target], at) =>
      `<Relationship Id="rId${at + 1}" Type="${documents}/${kind}" Target="${target}"/>`,
  );
  return `<Relationships xmlns="${packages}">${each.join('')}</Relationships>`;
};

export interface SheetParts {
  name?: string;
  state?: string;
  /** The rows of the sheet, as XML. */
  rows: string;
  /** What stands before them. */
  before?: string;
}

export interface XlsxParts extends SheetParts {
  sharedStrings?: string;
  styles?: string;
  workbookPr?: string;
  /** Sheets after the first one. */
  more?: readonly SheetParts[];
}

export function uploadedSheet(parts: XlsxParts): Buffer {
  const { sharedStrings, styles, workbookPr = '' } = parts;
  const sheets = [parts, ...(parts.more ?? [])];
  const listed = sheets.map(({ name, state }, at) => {
    const shown = state === undefined ? '' : ` state="${state}"`;
    return `<sheet name="${name ?? `S${at + 1}`}" sheetId="${at + 1}"${shown} r:id="rId${at + 1}"/>`;
  });
  return zipFile({
    '_rels/.rels': relationships([['officeDocument', 'xl/workbook.xml']]),
    'xl/workbook.xml':
      `<workbook ${main} xmlns:r="${documents}">${workbookPr}` +
      `<sheets>${listed.join('')}</sheets></workbook>`,
    'xl/_rels/workbook.xml.rels': relationships([
      ...sheets.map((_, at) => ['worksheet', `worksheets/sheet${at + 1}.xml`] as const),
      ['sharedStrings', '/xl/sharedStrings.xml'],
      ['styles', 'styles.xml'],
    ]),
    'xl/sharedStrings.xml': `<sst ${main}>${sharedStrings ?? ''}</sst>`,
    'xl/styles.xml': `<styleSheet ${main}>${styles ?? ''}</styleSheet>`,
    ...Object.fromEntries(
      sheets.map(({ rows, before = '' }, at) => [
        `xl/worksheets/sheet${at + 1}.xml`,
        `<worksheet ${main}>${before}<sheetData>${rows}</sheetData></worksheet>`,
      ]),
    ),
  });
}

export type ZippedPart = string | Buffer | { deflated: Buffer; size: number; checksum?: number };

/** An archive with these contents, or with bytes that are deflated already. */
export function zipFile(parts: Record<string, ZippedPart>): Buffer {
  return zipOf(Object.entries(parts));
}

/** An archive in which a name may stand twice. */
export function zipOf(parts: readonly (readonly [name: string, part: ZippedPart])[]): Buffer {
  const locals: Buffer[] = [];
  const entries: Buffer[] = [];
  let offset = 0;
  for (const [path, part] of parts) {
    const name = Buffer.from(path);
    const content = typeof part === 'string' ? Buffer.from(part) : part;
    const isPlain = Buffer.isBuffer(content);
    const data = isPlain ? deflateRawSync(content) : content.deflated;
    const checksum = isPlain ? crc32(content) : (content.checksum ?? 0);
    const local = Buffer.alloc(30);
    local.writeUInt32LE(0x04034b50, 0);
    local.writeUInt16LE(name.length, 26);
    const entry = Buffer.alloc(46);
    entry.writeUInt32LE(0x02014b50, 0);
    entry.writeUInt16LE(8, 10);
    entry.writeUInt32LE(checksum, 16);
    entry.writeUInt32LE(data.length, 20);
    entry.writeUInt32LE(isPlain ? content.length : content.size, 24);
    entry.writeUInt16LE(name.length, 28);
    entry.writeUInt32LE(offset, 42);
    locals.push(local, name, data);
    entries.push(entry, name);
    offset += local.length + name.length + data.length;
  }
  const directory = Buffer.concat(entries);
  const end = Buffer.alloc(22);
  end.writeUInt32LE(0x06054b50, 0);
  end.writeUInt16LE(parts.length, 10);
  end.writeUInt32LE(directory.length, 12);
  end.writeUInt32LE(offset, 16);
  return Buffer.concat([...locals, directory, end]);
}
