// The stylesheet of the console: one file, without a build, in the colours that the reader's system
// prefers, from 390 px to wide screens.
export const stylesheet = `
:root {
  color-scheme: light dark;
  --back: #f6f7f9; --card: #fff; --text: #1b1f24; --muted: #57606a; --line: #d0d7de;
  --accent: #0b5cad; --on-accent: #fff; --good: #116329; --good-back: #dafbe1;
  --bad: #a40e26; --bad-back: #ffebe9; --warn: #6b4700; --warn-back: #fff8c5;
}
@media (prefers-color-scheme: dark) {
  :root {
    --back: #0d1117; --card: #161b22; --text: #e6edf3; --muted: #9ca6b1; --line: #3b434c;
    --accent: #6cb2ff; --on-accent: #08111c; --good: #7ee2a0; --good-back: #12301d;
    --bad: #ff9c95; --bad-back: #3d1518; --warn: #f0cf72; --warn-back: #33290a;
  }
}
* { box-sizing: border-box; }
body { margin: 0; background: var(--back); color: var(--text);
  font: 16px/1.5 system-ui, -apple-system, "Segoe UI", Roboto, sans-serif; }
a { color: var(--accent); }
:focus-visible { outline: 3px solid var(--accent); outline-offset: 2px; }
.skip { position: absolute; left: -999px; }
.skip:focus { left: 8px; top: 8px; background: var(--card); padding: 8px; z-index: 1; }
header { background: var(--card); border-bottom: 1px solid var(--line); }
.bar { max-width: 1200px; margin: 0 auto; padding: 8px 16px; display: flex; flex-wrap: wrap;
  gap: 8px 20px; align-items: center; }
.brand { font-weight: 700; font-size: 18px; color: var(--text); text-decoration: none; }
.bar .end { margin-left: auto; display: flex; flex-wrap: wrap; gap: 8px 14px;
  align-items: center; }
nav { flex-basis: 100%; }
nav ul { list-style: none; margin: 0; padding: 0; display: flex; flex-wrap: wrap; gap: 4px 14px; }
nav a { display: inline-block; padding: 6px 2px; }
nav a[aria-current] { color: var(--text); font-weight: 600; text-decoration: none;
  border-bottom: 3px solid var(--accent); }
nav a[aria-current="true"] { border-bottom-color: var(--line); }
nav.subpages { border-top: 1px solid var(--line); padding-top: 4px; font-size: 15px; }
main { max-width: 1200px; margin: 0 auto; padding: 16px; }
main.narrow { max-width: 460px; }
h1 { font-size: 26px; line-height: 1.25; margin: 8px 0 16px; overflow-wrap: anywhere; }
h2 { font-size: 18px; margin: 0 0 8px; }
.cards { display: grid; gap: 16px; grid-template-columns: repeat(auto-fit, minmax(290px, 1fr));
  margin: 0 0 16px; }
.card { background: var(--card); border: 1px solid var(--line); border-radius: 8px;
  padding: 16px; margin: 0 0 16px; min-width: 0; }
.cards.four { grid-template-columns: repeat(auto-fit, minmax(250px, 1fr)); }
.cards .card { margin: 0; }
.unseen { position: absolute; width: 1px; height: 1px; overflow: hidden; clip-path: inset(50%);
  white-space: nowrap; }
.scroll { overflow-x: auto; }
table { border-collapse: collapse; width: 100%; }
th, td { text-align: left; padding: 8px 10px; border-bottom: 1px solid var(--line);
  vertical-align: top; }
th { color: var(--muted); font-weight: 600; white-space: nowrap; }
td.wide { overflow-wrap: anywhere; min-width: 190px; }
dl { display: grid; grid-template-columns: 1fr auto; gap: 6px 12px; margin: 0; }
dt { color: var(--muted); }
dd { margin: 0; text-align: right; font-variant-numeric: tabular-nums; }
.notice { border-radius: 8px; padding: 12px 16px; margin: 0 0 16px; border: 1px solid;
  overflow-wrap: anywhere; }
.good { background: var(--good-back); color: var(--good); }
.bad { background: var(--bad-back); color: var(--bad); }
.warn { background: var(--warn-back); color: var(--warn); }
.notice.state { font-size: 20px; font-weight: 600; }
.notice ul { margin: 4px 0 0; padding-left: 20px; font-weight: 400; font-size: 16px; }
.notice a { color: inherit; }
.muted { color: var(--muted); }
label { display: block; font-weight: 600; margin: 0 0 12px; }
input, select, textarea { font: inherit; color: inherit; background: var(--back); width: 100%;
  border: 1px solid var(--muted); border-radius: 6px; padding: 8px 10px; margin-top: 4px; }
button, .button { font: inherit; font-weight: 600; border-radius: 6px; padding: 8px 16px;
  border: 1px solid var(--accent); background: var(--accent); color: var(--on-accent);
  cursor: pointer; text-decoration: none; display: inline-block; }
button.plain { background: transparent; color: var(--accent); padding: 6px 10px; }
.row { display: flex; flex-wrap: wrap; gap: 8px 12px; align-items: end; }
.row label { margin: 0; flex: 1 1 150px; }
td form { margin: 0; }
td .row { gap: 6px; flex-wrap: nowrap; }
td input, td select { margin: 0; padding: 5px 8px; min-width: 120px; width: auto; }
.hint { font-weight: 400; color: var(--muted); font-size: 14px; }
.qr { background: #fff; padding: 8px; border-radius: 8px; width: 220px; max-width: 100%; }
.qr svg { display: block; width: 100%; height: auto; }
.badge { display: inline-block; border-radius: 999px; padding: 1px 10px; font-size: 14px;
  font-weight: 600; white-space: nowrap; background: var(--back); border: 1px solid var(--line); }
.badge.good { background: var(--good-back); border-color: var(--good); }
.badge.bad { background: var(--bad-back); border-color: var(--bad); }
.badge.warn { background: var(--warn-back); border-color: var(--warn); }
.amount { white-space: nowrap; font-variant-numeric: tabular-nums; }
td.number, th.number { text-align: right; }
.filters { align-items: end; margin: 0 0 16px; }
.pager { display: flex; gap: 16px; margin: 12px 0 0; }
.timeline { list-style: none; margin: 0; padding: 0 0 0 18px; border-left: 2px solid var(--line); }
.timeline li { position: relative; margin: 0 0 14px; overflow-wrap: anywhere;
  background: none; color: inherit; }
.timeline li::before { content: ""; position: absolute; left: -25px; top: 6px; width: 12px;
  height: 12px; border-radius: 50%; background: var(--muted); border: 2px solid var(--card); }
.timeline li.good::before { background: var(--good); }
.timeline li.bad::before { background: var(--bad); }
.timeline li.warn::before { background: var(--warn); }
.timeline time { display: block; color: var(--muted); font-size: 14px; }
textarea { min-height: 80px; }
input[type="checkbox"], input[type="radio"] { width: auto; min-width: 0; margin: 0 6px 0 0; }
progress { width: 100%; height: 14px; accent-color: var(--accent); }
pre { overflow-x: auto; background: var(--back); border: 1px solid var(--line);
  border-radius: 6px; padding: 12px; margin: 0; font-size: 14px; }
.beside { display: grid; gap: 16px; grid-template-columns: minmax(0, 1fr); }
@media (min-width: 1000px) { .beside { grid-template-columns: repeat(2, minmax(0, 1fr)); } }
.search { flex: 1 1 260px; max-width: 460px; }
.search form { display: flex; gap: 6px; }
.search input { margin: 0; padding: 5px 10px; min-width: 0; }
.search input::placeholder { color: var(--muted); opacity: 1; }
.block { display: block; }
.anywhere { overflow-wrap: anywhere; }
@media (max-width: 640px) {
  .stacked thead { position: absolute; left: -999px; }
  .stacked table, .stacked tbody, .stacked tr, .stacked td { display: block; }
  .stacked tr { border-bottom: 1px solid var(--line); padding: 8px 0; }
  .stacked td { border: 0; padding: 2px 0; min-width: 0; text-align: left; }
  .stacked td[data-label]::before { content: attr(data-label) ": "; color: var(--muted); }
  .stacked .hint.block { display: inline; margin-left: 6px; }
}
fieldset { border: 1px solid var(--line); border-radius: 8px; padding: 8px 14px 12px;
  margin: 0 0 16px; min-width: 0; }
legend { font-weight: 600; padding: 0 6px; }
fieldset label { font-weight: 400; margin: 0 0 4px; }
label.choice { font-weight: 400; margin: 4px 0; }
fieldset.checks { display: grid; gap: 4px 16px;
  grid-template-columns: repeat(auto-fill, minmax(230px, 1fr)); }
fieldset.checks legend.hint { font-weight: 400; }
fieldset.checks label { font-weight: 400; margin: 0; overflow-wrap: anywhere; }
details { margin: 0 0 12px; }
summary { cursor: pointer; color: var(--accent); font-weight: 600; padding: 4px 0; }
summary + pre { margin-top: 12px; }
details.card > summary { font-size: 18px; }
meter { width: 110px; vertical-align: middle; }
.card > .block { overflow-wrap: anywhere; }
.card form + form { border-top: 1px solid var(--line); margin-top: 12px; padding-top: 12px; }
.card .row form + form { border: 0; margin: 0; padding: 0; }
code, .codes { font-family: ui-monospace, SFMono-Regular, Menlo, monospace; font-size: 15px;
  overflow-wrap: anywhere; }
.codes { columns: 2; list-style: none; padding: 0; }
td details form { margin: 8px 0; min-width: 200px; }
.fields { display: grid; gap: 0 16px; align-items: end;
  grid-template-columns: repeat(auto-fit, minmax(min(290px, 100%), 1fr)); }
td progress { min-width: 120px; }
pre code { overflow-wrap: normal; }
.limits { list-style: none; margin: 0; padding: 0; }
.limits li { margin: 0 0 10px; }
.words { margin: 0 0 8px; padding-left: 20px; }
.proposal { border-top: 1px solid var(--line); padding-top: 10px; margin-top: 10px; }
.facts dl { grid-template-columns: minmax(90px, 2fr) minmax(0, 3fr); }
.facts dd { min-width: 0; }
.facts .badge { white-space: normal; }
.stack .row { margin: 0 0 12px; }
main p, main dd, legend, summary { overflow-wrap: anywhere; }
.ways { justify-content: space-between; margin: 0 0 12px; }
.badges { margin: 0 0 8px; overflow-wrap: anywhere; }
.bulk { border: 1px solid var(--line); border-radius: 8px; padding: 12px 16px; margin: 16px 0 0; }
kbd { font: 600 13px/1.4 ui-monospace, SFMono-Regular, Menlo, monospace; padding: 0 6px;
  border: 1px solid currentColor; border-radius: 4px; }
.actions details { border-top: 1px solid var(--line); padding: 4px 0 8px; }
.candidates { list-style: none; margin: 0 0 12px; padding: 0; }
.candidates li { border: 1px solid var(--line); border-radius: 8px; padding: 12px;
  margin: 0 0 12px; }
.candidates li:has(input:checked) { border: 2px solid var(--accent); padding: 11px; }
.choice { margin: 0 0 4px; overflow-wrap: anywhere; font-weight: 600; }
.clip { display: -webkit-box; -webkit-box-orient: vertical; -webkit-line-clamp: 3;
  overflow: hidden; }
.compare th { white-space: normal; }
@media (max-width: 600px) {
  .compare thead { position: absolute; left: -999px; }
  .compare tr { display: grid; grid-template-columns: 1fr 1fr; padding: 6px 0;
    border-bottom: 1px solid var(--line); }
  .compare td, .compare th { border: 0; padding: 2px 4px; }
  .compare th { order: 1; }
  .compare td { order: 2; }
  .compare td.side { order: 3; }
  .compare .side::before { content: attr(data-label); display: block; color: var(--muted);
    font-size: 13px; }
}
.side { overflow-wrap: anywhere; }
tr.compared.differs td { background: var(--bad-back); }
.mark { font-weight: 600; }
.mark.same { background: none; color: var(--good); }
.mark.near { color: var(--warn); }
.mark.differs { background: none; color: var(--bad); }
.mark.unknown { color: var(--muted); }
.difference { display: block; }
code.id { display: block; font-size: 14px; unicode-bidi: isolate; }
.comments { list-style: none; margin: 0 0 16px; padding: 0; }
.comments li { border-bottom: 1px solid var(--line); padding: 8px 0; }
.comments p { margin: 0; }
.written { white-space: pre-wrap; overflow-wrap: anywhere; }
dl.keys { grid-template-columns: auto 1fr; }
dl.keys dd { text-align: left; }
.notice.plain { background: var(--back); color: var(--text); border-color: var(--accent); }
@media (min-width: 900px) and (min-height: 700px) {
  #rule-sentence { position: sticky; top: 0; z-index: 1; }
  #rule-builder { scroll-padding-top: 80px; }
}
.row.top { align-items: start; margin: 0 0 12px; }
.row.condition { margin: 0 0 12px; }
.row.condition label { flex-basis: 260px; }
.field-error { display: block; color: var(--bad); font-weight: 600; font-size: 14px; }
[aria-invalid] { border-color: var(--bad); }
.first-submit { position: absolute; left: -999px; }
form:has([name="action"][value="classify"]:checked) .if-match { display: none; }
form:has([name="action"][value="match"]:checked) .if-classify { display: none; }
form:not(:has([name="parts"][value="plan"]:checked)) .if-plan { display: none; }
form:not(:has([name="parts"][value="netSettlement"]:checked)) .if-net-settlement { display: none; }
form:has([name="parts"][value="netSettlement"]:checked) .if-tolerant { display: none; }
td.sentence { min-width: 280px; }
h3 { font-size: 16px; margin: 0 0 8px; }
del { color: var(--bad); background: var(--bad-back); }
ins { color: var(--good); background: var(--good-back); text-decoration: none; }
svg.chart { width: 100%; height: auto; display: block; }
.ends { display: flex; justify-content: space-between; color: var(--muted); font-size: 14px; }
svg.chart .balance { fill: none; stroke: var(--accent); stroke-width: 3; }
.chart .projected { stroke-dasharray: 7 5; }
svg.chart .zero { stroke: var(--bad); stroke-width: 1; }
.chart .today { stroke: var(--muted); stroke-width: 1; stroke-dasharray: 2 4; }
.legend-past, .legend-projected { border-top: 3px solid var(--accent); padding-top: 2px;
  margin-right: 16px; font-size: 14px; }
.legend-projected { border-top-style: dashed; }
.bars { background: #fff; padding: 12px 4px; border-radius: 8px; max-width: 560px; margin: 0 0 12px; }
.bars svg { display: block; width: 100%; height: 70px; }
.codes-to-pay .qr { margin: 0 0 12px; }
.codes-to-pay .cards { margin: 12px 0 0; }
pre.request { white-space: pre-wrap; overflow-wrap: anywhere; margin: 0 0 16px; }
.identifier { user-select: all; }
input.code { font-family: ui-monospace, SFMono-Regular, Menlo, monospace; font-size: 14px; }
figure.chart { margin: 0; min-width: 0; }
.chart figcaption { display: flex; flex-wrap: wrap; gap: 4px 16px; align-items: center; }
.chart .key { display: inline-flex; gap: 6px; align-items: center; font-size: 14px; }
.chart .scroll svg { display: block; width: 100%; min-width: 520px; max-width: 760px;
  height: auto; }
.chart text { font-size: 12px; fill: var(--muted); font-variant-numeric: tabular-nums; }
figure.chart .grid { stroke: var(--line); }
figure.chart .zero { stroke: var(--muted); }
.chart .mark { stroke: var(--card); stroke-width: 1.5; fill: none; }
.bar-in { fill: var(--accent); }
pattern .bar-out { fill: var(--warn); } pattern .bar-matched { fill: var(--accent); }
pattern .bar-classified { fill: var(--good); } pattern .bar-in_break { fill: var(--bad); }
pattern .bar-pending { fill: var(--muted); }
figure.chart path.balance { fill: none; stroke: var(--accent); stroke-width: 2; }
.chart circle.balance { fill: var(--accent); }
h2.later { margin-top: 24px; }
`;
