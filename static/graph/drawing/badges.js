/* The graph view's badges of groups: how much changed in one, and the box that opens and closes it. */
(function (root) {
  "use strict";

  const { drawing, SIDES: { BEFORE } } = root.FreezerGraph;
  const { FONTS, SIGNS, ink, textWidth, write } = drawing;

  /** What changed in a group, as far as it is seen in this pane: what was removed before, what was added after. */
  function badgesOf({ picture, look }, item) {
    const hidden = look.alone ? "" : look.side === BEFORE ? "added" : "removed";
    return ["removed", "added", "changed"].filter((status) => status !== hidden && picture.counts[status][item])
      .map((status) => ({ status, text: `${SIGNS[status]}${picture.counts[status][item]}` }));
  }

  function badgesWidth(badges) {
    return badges.reduce((sum, badge) => sum + textWidth(FONTS.header, badge.text) + 13, 0);
  }

  function paintBadges(job, badges, left, y) {
    const { s, theme } = job;
    let x = left;
    for (const { status, text } of badges) {
      const width = textWidth(FONTS.header, text) + 9;
      s.beginPath();
      s.roundRect(x, y - 8, width, 16, 5);
      ink(job, theme[status].fill, theme[status].line);
      write(job, text, x + width / 2, y + 0.5, { font: FONTS.header, colour: theme[status].text, align: "center" });
      x += width + 4;
    }
  }

  function paintToggle(job, x, y, closed) {
    const { s, theme } = job;
    s.beginPath();
    s.roundRect(x - 6, y - 6, 12, 12, 3);
    ink(job, theme.box, theme.closedLine);
    s.beginPath();
    s.moveTo(x - 3, y);
    s.lineTo(x + 3, y);
    if (closed) {
      s.moveTo(x, y - 3);
      s.lineTo(x, y + 3);
    }
    s.strokeStyle = theme.soft;
    s.lineWidth = 1.4;
    s.stroke();
  }

  Object.assign(drawing, { badgesOf, badgesWidth, paintBadges, paintToggle });
})(globalThis);
