import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { linkOf } from './alert-subject.js';
import {
  bodyOf,
  slackText,
  titleOf,
  type GroupedMessage,
  type NamedAlert,
} from './message-text.js';

const alert = (detail: NamedAlert['detail'], more: Partial<NamedAlert> = {}): NamedAlert => ({
  ...{ alertId: 'a1', severity: 'high', amountCents: null, firedAt: '2026-11-24T12:30:00Z' },
  ...{ detail, ...more },
});
const message = (more: Partial<GroupedMessage>): GroupedMessage => ({
  ...{ kind: 'fired', slug: 'main', rule: { id: 'r1', name: 'Altas' }, count: 1 },
  ...{ amountCents: null, withoutAmount: 1, severities: { high: 1 }, alerts: [] },
  ...{ linkBase: 'https://c.example/console/accounts/main', ...more },
});
const lineOf = (detail: NamedAlert['detail'], language: 'pt' | 'en') =>
  bodyOf(message({ alerts: [alert(detail)] }), language)
    .split('\n')
    .find((line) => line.startsWith('- '));

describe('the text of a message', () => {
  it('has counts, the total, the first alerts with links, and how many there are more', () => {
    const breaks = [
      alert({ breakId: 'b1', breakKind: 'underpaid' }, { amountCents: '123456' }),
      alert({ breakId: 'b2', breakKind: 'missing' }, { severity: 'low' }),
    ];
    const many = message({
      ...{ count: 1_002, amountCents: 9_876_543n, withoutAmount: 4, alerts: breaks },
      severities: { critical: 2, low: 1_000 },
    });
    expect(titleOf(many, 'pt')).toBe('[Concilia] main: 1002 alertas, R$\u00a098.765,43 (Altas)');
    expect(bodyOf(many, 'pt')).toBe(`Regra: Altas
Conta: main
1002 alertas. Total: R$\u00a098.765,43 (4 sem valor conhecido)
Gravidade: crítica 2, baixa 1000

- alta · Pago a menor · R$\u00a01.234,56 · desde 24/11/2026 09:30 · https://c.example/console/accounts/main/breaks/b1
- baixa · Pagamento não localizado · desde 24/11/2026 09:30 · https://c.example/console/accounts/main/breaks/b2
e mais 1000

Todos: https://c.example/console/accounts/main/alerts?ruleId=r1
`);
    expect(titleOf(many, 'en')).toBe('[Concilia] main: 1002 alerts, R$\u00a098.765,43 (Altas)');
    expect(bodyOf(many, 'en')).toContain('and 1000 more');
  });

  it.each([
    [{ endpointId: 'e1', deliveries: 3 }, 'Entregas sem sucesso em um destino: 3'],
    [{ month: '2026-10' }, 'Mês 10/2026 não fechado'],
    [{ day: '2026-11-23' }, 'Dia 23/11/2026 sem certificado'],
    [{ lost: 3, expected: 9, hours: 1 }, '3 de 9 lançamentos sem webhook em 1 h'],
    [{ lastSyncAt: '2026-11-24T02:05:00Z' }, 'Última sincronização do extrato: 23/11/2026 23:05'],
    [{ lastSyncAt: null }, 'Extrato nunca sincronizado'],
  ])('describes %j in Portuguese, and otherwise in English', (detail, text) => {
    expect(lineOf(detail, 'pt')).toContain(` · ${text} · `);
    expect(lineOf(detail, 'en')).not.toMatch(/entregas|certificado|lançamentos|extrato|desde/i);
  });

  it.each([
    [{ breakId: 'b1', breakKind: 'missing' }, 'breaks/b1'],
    [{ operationId: 'o1' }, 'approvals'],
    [{ endpointId: 'e1', deliveries: 3 }, 'deliveries?state=dead&endpointId=e1'],
    [{ day: '2026-11-23' }, 'days'],
    [{ lost: 3, expected: 9, hours: 1 }, 'webhook-health'],
    [{ lastSyncAt: null }, 'today'],
  ])('links %j to the page about it', (detail, page) => {
    expect(lineOf(detail, 'pt')).toMatch(/ · https:\S+$/);
    expect(linkOf(detail, 'https://c.example')).toBe(`https://c.example/${page}`);
  });

  it.each([
    ['cleared', 1, '1 alerta encerrado', '1 alert cleared'],
    ['cleared', 2, '2 alertas encerrados', '2 alerts cleared'],
    ['reminder', 1, '1 alerta não reconhecido', '1 alert not acknowledged'],
    ['test', 0, 'mensagem de teste', 'test message'],
  ] as const)('of the kind %s about %i is titled so', (kind, count, pt, en) => {
    expect(titleOf(message({ kind, count }), 'pt')).toContain(`main: ${pt}`);
    expect(titleOf(message({ kind, count }), 'en')).toContain(`main: ${en}`);
  });

  it('has a title of one line, whatever the names are', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary' }), fc.string({ unit: 'binary' }), (slug, name) => {
        const title = titleOf(message({ slug, rule: { id: 'r1', name } }), 'pt');
        expect(title).not.toMatch(/[\p{Cc}\p{Zl}\p{Zp}]/u);
      }),
    );
    const hostile = 'x\r\nBcc: a@b.example\u2028y\u0000';
    expect(titleOf(message({ slug: hostile }), 'pt')).toContain('x Bcc: a@b.example y : 1 alerta');
  });

  it('mentions nobody in Slack', () => {
    const text = slackText(message({ rule: { id: 'r1', name: '<!channel> & <@U1>' } }), 'pt');
    expect(text).toContain('&lt;!channel&gt; &amp; &lt;@U1&gt;');
    expect(text).not.toContain('<');
  });
});
