import { describe, expect, it } from '@jest/globals';
import { accountAtItau, exportedLine } from '../../test/support/exported-lines.js';
import type { StatementPeriod } from './exported-line.js';
import { ofxFile } from './ofx-file.js';

const period: StatementPeriod = {
  from: '2026-03-01',
  to: '2026-03-31',
  openingCents: 7n,
  isPartial: false,
  generatedAt: new Date('2026-04-01T12:00:00Z'),
};
const valueOf = (text: string, tag: string) => new RegExp(`<${tag}>([^\\r\\n<]*)`).exec(text)?.[1];
const textOf = (...lines: Parameters<typeof exportedLine>[0][]) => {
  const file = ofxFile(accountAtItau, period);
  return [file.head(), ...lines.map((line) => file.row(exportedLine(line))), file.foot()].join('');
};

describe('an OFX file of the statement', () => {
  it('starts with the header that bookkeeping programs expect', () => {
    expect(textOf().split('\r\n').slice(0, 11)).toEqual([
      'OFXHEADER:100',
      'DATA:OFXSGML',
      'VERSION:102',
      'SECURITY:NONE',
      'ENCODING:USASCII',
      'CHARSET:1252',
      'COMPRESSION:NONE',
      'OLDFILEUID:NONE',
      'NEWFILEUID:NONE',
      '',
      '<OFX>',
    ]);
  });

  it('closes each aggregate that it opens, and no leaf element', () => {
    const text = textOf({ endToEndId: 'E1', notes: 'x' }, { nsu: 102n });
    const open: string[] = [];
    const leaves = new Set([
      'CODE',
      'SEVERITY',
      'DTSERVER',
      'LANGUAGE',
      'TRNUID',
      'CURDEF',
      'BANKID',
      'BRANCHID',
      'ACCTID',
    ]);
    for (const name of [
      'ACCTTYPE',
      'DTSTART',
      'DTEND',
      'TRNTYPE',
      'DTPOSTED',
      'TRNAMT',
      'FITID',
      'CHECKNUM',
    ])
      leaves.add(name);
    for (const name of ['REFNUM', 'MEMO', 'BALAMT', 'DTASOF']) leaves.add(name);
    for (const [, slash, name = ''] of text.matchAll(/<(\/?)([A-Z0-9]+)>/g)) {
      if (slash) expect(open.pop()).toBe(name);
      else if (!leaves.has(name)) open.push(name);
    }
    expect(open).toEqual([]);
  });

  it('states the period from midnight in São Paulo, and identifies a line by its nsu', () => {
    const text = textOf({ isCredit: false, amountCents: 1_050n, endToEndId: 'E123' });
    expect(valueOf(text, 'DTSTART')).toBe('20260301000000[-3:BRT]');
    expect(valueOf(text, 'DTEND')).toBe('20260331235959[-3:BRT]');
    expect(valueOf(text, 'TRNTYPE')).toBe('DEBIT');
    expect(valueOf(text, 'DTPOSTED')).toBe('20260310120405[-3:BRT]');
    expect(valueOf(text, 'TRNAMT')).toBe('-10.50');
    expect(valueOf(text, 'FITID')).toBe('101');
    expect(valueOf(text, 'REFNUM')).toBe('E123');
  });

  it('states the account at its bank, by its ISPB where the bank has no other code', () => {
    const account = (changes: object) => {
      const text = ofxFile({ ...accountAtItau, ...changes }, period).head();
      return ['BANKID', 'BRANCHID', 'ACCTID'].map((tag) => valueOf(text, tag));
    };
    expect(account({})).toEqual(['341', '12', '34567-8']);
    expect(account({ bankCode: null, branchDigit: 'X', accountDigit: null })).toEqual([
      ...['60701190', '12-X', '34567'],
    ]);
  });

  it('uses daylight saving time where it was in force', () => {
    const text = textOf({ occurredAt: new Date('2018-12-01T12:00:00Z') });
    expect(valueOf(text, 'DTPOSTED')).toBe('20181201100000[-2:BRST]');
  });

  it('ends with the opening balance plus its lines, as of the latest line', () => {
    const text = textOf(
      { amountCents: 10n, occurredAt: new Date('2026-03-11T12:00:00Z') },
      { nsu: 102n, isCredit: false, amountCents: 22n },
    );
    expect([valueOf(text, 'BALAMT'), valueOf(text, 'DTASOF')]).toEqual([
      '-0.05',
      '20260311090000[-3:BRT]',
    ]);
    expect([valueOf(textOf(), 'BALAMT'), valueOf(textOf(), 'DTASOF')]).toEqual([
      '0.07',
      '20260331235959[-3:BRT]',
    ]);
  });

  it('has no tag, no line break and no character outside Windows-1252 in a memo', () => {
    const text = textOf({ notes: '</MEMO><STMTTRN>\r\n<TRNAMT>999 & ação “ótima” 😀 ł' });
    expect(text.match(/<STMTTRN>/g)).toHaveLength(1);
    expect(text.match(/<TRNAMT>/g)).toHaveLength(1);
    expect(/<MEMO>(.*)\r\n/.exec(text)?.[1]).toBe(
      'CREDIT_PIX &lt;/MEMO&gt;&lt;STMTTRN&gt; &lt;TRNAMT&gt;999 &amp; ação "ótima" ? ?',
    );
    expect([...text].every((character) => character <= '\u00ff')).toBe(true);
  });

  it('cuts a memo at 255 characters without cutting an entity', () => {
    const memo = /<MEMO>(.*)\r\n/.exec(textOf({ notes: '&'.repeat(300) }))?.[1] ?? '';
    expect(memo.length).toBeLessThanOrEqual(255);
    expect(memo.endsWith('&amp;')).toBe(true);
  });
});
