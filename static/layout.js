/* Compound layered layout, top to bottom: boxes inside boxes, edges that cross their borders through ports.
 *
 * Each group (a *scope*) is laid out on its own, innermost first, and then is one box of the scope around it. A source
 * box has one *net* per scope it reaches: a single chain of bends that all its readers there share, so that a value
 * read everywhere costs one line and not hundreds. Where a net crosses a group's border it has a port on it.
 *
 * Phases:  index → nets → per scope {layers, chains, order, x, y} → absolute positions → segments
 *
 * Pure and deterministic: the same input gives the same output, in a worker as on the main thread. `layoutModule` is
 * self-contained because its source text is what the worker is made from.
 *
 * Input   parent Int32Array     box that holds box i; box 0 is the root; a box follows its parent
 *         group  Uint8Array     1 for a box that is open and so gets its size from what it holds
 *         width, height         sizes of closed boxes, least sizes of open ones, even (world units = CSS px at zoom 1)
 *         source, target        the edges, as boxes; the order of boxes is an execution order
 *         via Int32Array        box through whose place an edge runs, or -1: only another version of the graph has that
 *                               box, and the edge takes the lines to it and from it, which are among the edges
 * Output  x, y, width, height   Float32Array, left top corners and sizes of all boxes
 *         x1, y1, x2, y2        Float32Array, segments; each runs downward and starts and ends vertically
 *         owner Int32Array      source box of segment s
 *         previous Int32Array   segment that segment s continues, or -1; always smaller than s
 *         last Int32Array       segment that arrives at the target of edge e, or -1 where there is nothing to draw
 *         layer Int32Array      layer of box i in its scope
 *         lean  Float32Array    half of how far the ways out of box i lie to the right of the ways in
 */
(function (root) {
  "use strict";

  function layoutModule() {
    const PAD = 14;
    const HEADER = 28;
    const ROW_GAP = 26;
    const PORT_GAP = 10;
    const WIDE_GAP = 0.07; // a row gap grows with the widest sidestep in it, so that curves stay steep enough to read
    const MOST_GAP = 60;
    const BEND = 8;
    const SPREAD = 14;
    const EMPTY_COLUMN = 48;
    const BEND_BUDGET = 60000; // bends in one scope, beyond which nets that span many layers run straight
    const LONG_SPAN = 40;
    const MOST_WISHES = 200;
    // How much a link wants to be straight: from neighbour to neighbour, along a long line, and at a line's ends. The
    // main path weighs most, so that lines that pass it by make way, all of them together, and not the boxes.
    const MAIN = 4;
    const LONG = 2;
    const SIDE = 1;
    const NONE = -1;

    /** Lays out one input; see the top of this file. */
    function layout(input) {
      const tree = indexTree(input);
      const nets = routeNets(input, tree);
      const size = input.parent.length;
      const result = {
        x: new Float32Array(size), y: new Float32Array(size), layer: new Int32Array(size), lean: new Float32Array(size),
        width: Float32Array.from(input.width), height: Float32Array.from(input.height),
      };
      const scopes = new Array(size);
      for (let box = size - 1; box >= 0; box--) {
        if (input.group[box]) scopes[box] = layoutScope(box, tree, nets, result);
      }
      placeAbsolutely(input, result);
      return Object.assign(result, drawSegments(input, tree, nets, scopes, result));
    }

    // ---- index

    function indexTree(input) {
      const size = input.parent.length;
      const depth = new Int32Array(size);
      const children = Array.from({ length: size }, () => []);
      const place = new Int32Array(size);
      for (let box = 1; box < size; box++) {
        depth[box] = depth[input.parent[box]] + 1;
        place[box] = children[input.parent[box]].push(box) - 1;
      }
      return { parent: input.parent, group: input.group, depth, children, place };
    }

    // ---- nets

    /** Finds, per scope and source, where the net comes from and which children read it. */
    function routeNets(input, tree) {
      const size = input.parent.length;
      const byName = new Map();
      const inScope = Array.from({ length: size }, () => []);
      const find = (scope, owner) => byName.get(scope * size + owner);
      const net = (scope, owner, from) => {
        let found = find(scope, owner);
        if (!found) {
          found = { scope, owner, from, sinks: [], known: new Set(), exits: false, entryX: 0, exitX: 0 };
          byName.set(scope * size + owner, found);
          inScope[scope].push(found);
        }
        return found;
      };
      const sink = (one, child) => {
        if (one.known.has(child)) return;
        one.known.add(child);
        one.sinks.push(child);
      };
      const drawn = new Uint8Array(input.source.length);
      for (let edge = 0; edge < input.source.length; edge++) {
        if (input.via[edge] !== NONE) continue;
        const [owner, target] = [input.source[edge], input.target[edge]];
        let [a, b] = [owner, target];
        while (tree.depth[a] > tree.depth[b]) a = tree.parent[a];
        while (tree.depth[b] > tree.depth[a]) b = tree.parent[b];
        if (a === b) continue; // a box and what it holds: being inside says it all
        while (tree.parent[a] !== tree.parent[b]) [a, b] = [tree.parent[a], tree.parent[b]];
        drawn[edge] = 1;
        for (let at = owner; at !== a; at = tree.parent[at]) net(tree.parent[at], owner, at).exits = true;
        sink(net(tree.parent[a], owner, a), b);
        for (let at = target; at !== b; at = tree.parent[at]) sink(net(tree.parent[at], owner, NONE), at);
      }
      return { inScope, find, drawn };
    }

    // ---- one scope

    function layoutScope(box, tree, nets, result) {
      const scope = { box, nets: nets.inScope[box], children: tree.children[box], find: nets.find };
      const layers = assignLayers(scope, tree);
      const grid = buildChains(scope, layers, tree, result);
      orderRows(grid);
      placeX(grid);
      straightenChains(grid);
      closeColumns(grid);
      placeY(grid, scope, result);
      finishScope(grid, scope, result);
      return grid;
    }

    /** Longest path from the sources; then boxes sink towards their readers where that shortens their lines. */
    function assignLayers(scope, tree) {
      const count = scope.children.length;
      const layer = new Int32Array(count);
      const outs = scope.children.map(() => []);
      const ins = scope.children.map(() => []);
      for (const net of scope.nets) {
        const from = net.from === NONE ? NONE : tree.place[net.from];
        if (from !== NONE) outs[from].push(net);
        for (const child of net.sinks) if (tree.place[child] > from) ins[tree.place[child]].push(net);
      }
      for (let at = 0; at < count; at++) {
        for (const net of outs[at]) {
          for (const child of net.sinks) {
            const to = tree.place[child];
            if (to > at && layer[to] <= layer[at]) layer[to] = layer[at] + 1;
          }
        }
      }
      for (let at = count - 1; at >= 0; at--) sinkDown(at, layer, outs[at], ins[at], tree);
      // What no edge places stands beside what ran just before it.
      for (let at = 1; at < count; at++) if (!outs[at].length && !ins[at].length) layer[at] = layer[at - 1];
      let lowest = 0;
      for (let at = 0; at < count; at++) lowest = Math.max(lowest, layer[at]);
      return { layer, count: count ? lowest + 1 : 0 };
    }

    function sinkDown(at, layer, outs, ins, tree) {
      if (!outs.length || outs.some((net) => net.exits)) return;
      let nearest = Infinity;
      for (const net of outs) {
        for (const child of net.sinks) if (tree.place[child] > at) nearest = Math.min(nearest, layer[tree.place[child]]);
      }
      if (nearest === Infinity || nearest - 1 <= layer[at]) return;
      const reaches = (net) => net.exits || net.sinks.some((child) => layer[tree.place[child]] >= nearest - 1);
      const stretched = ins.filter((net) => !reaches(net)).length;
      if (stretched < outs.length) layer[at] = nearest - 1;
    }

    /**
     * The scope as rows of elements: boxes, bends of nets, and ports in a first and last row of their own.
     *
     * An element is an index into these arrays. A link joins elements of neighbouring rows; its shifts say where it
     * meets them, to the right of their middles.
     */
    class Grid {
      constructor(count, entering, leaving) {
        this.rows = Array.from({ length: Math.max(count, 1) }, () => []);
        Object.assign(this, { entering, leaving, chains: new Map(), row: [], width: [], box: [], net: [] });
        Object.assign(this, { upper: [], lower: [], weight: [], upperShift: [], lowerShift: [] });
      }

      add(row, width, box, net) {
        const element = this.row.push(row) - 1;
        this.width.push(width);
        this.box.push(box);
        this.net.push(net);
        this.rows[row].push(element);
        return element;
      }

      link(upper, lower, weight, upperShift, lowerShift) {
        this.upper.push(upper);
        this.lower.push(lower);
        this.weight.push(weight);
        this.upperShift.push(upperShift);
        this.lowerShift.push(lowerShift);
      }
    }

    function buildChains(scope, layers, tree, result) {
      const entering = scope.nets.some((net) => net.from === NONE);
      const leaving = scope.nets.some((net) => net.exits);
      const first = entering ? 1 : 0;
      const grid = new Grid(layers.count + first + (leaving ? 1 : 0), entering, leaving);
      grid.element = scope.children.map((child, at) => grid.add(layers.layer[at] + first, result.width[child], child, null));
      scope.children.forEach((child, at) => (result.layer[child] = layers.layer[at]));
      const rowOf = (child) => grid.row[grid.element[tree.place[child]]];
      const spans = scope.nets.map((net) => {
        const start = net.from === NONE ? 0 : rowOf(net.from);
        const end = net.exits ? grid.rows.length - 1 : start;
        return { start, end: net.sinks.reduce((most, child) => Math.max(most, rowOf(child)), end) };
      });
      const bends = spans.reduce((sum, { start, end }) => sum + Math.max(0, end - start - 1), 0);
      scope.nets.forEach((net, at) => {
        const straight = bends > BEND_BUDGET && spans[at].end - spans[at].start > LONG_SPAN;
        addChain(grid, net, { ...spans[at], straight }, { scope, tree, result });
      });
      return grid;
    }

    /** One net: its source or port, a bend per row down to its last reader, links from there to all readers. */
    function addChain(grid, net, { start, end, straight }, { scope, tree, result }) {
      const top = net.from === NONE ? grid.add(0, BEND, NONE, net) : grid.element[tree.place[net.from]];
      const topShift = net.from === NONE ? 0 : exitShift(scope, net, result);
      const shiftOf = (element) => (element === top ? topShift : 0);
      const chain = [top];
      for (let row = start + 1; row < end && !straight; row++) {
        const bend = grid.add(row, BEND, NONE, net);
        const above = chain[chain.length - 1];
        grid.link(above, bend, above === top ? SIDE : LONG, shiftOf(above), 0);
        chain.push(bend);
      }
      const carrier = (row) => chain[Math.min(row - 1 - start, chain.length - 1)];
      for (const child of net.sinks) {
        const element = grid.element[tree.place[child]];
        if (grid.row[element] <= start) continue; // runs backward: drawn, but shapes nothing
        const above = carrier(grid.row[element]);
        grid.link(above, element, above === top ? MAIN : SIDE, shiftOf(above), entryShift(scope, net, child, result));
      }
      if (net.exits) {
        const above = carrier(grid.rows.length - 1);
        const port = grid.add(grid.rows.length - 1, BEND, NONE, net);
        grid.link(above, port, above === top ? MAIN : LONG, shiftOf(above), 0);
        chain.push(port);
      }
      grid.chains.set(net, { chain, top, straight });
    }

    /**
     * Where a net leaves or enters a box, relative to the box's middle: inner scopes are laid out already.
     *
     * Half of what the ways out lie beside the ways in is taken off at either end: else a column of such boxes, each
     * in line with the one above, would wander off to one side.
     */
    function exitShift(scope, net, result) {
      const inner = net.from === net.owner ? undefined : scope.find(net.from, net.owner);
      return inner ? inner.exitX - result.width[net.from] / 2 - result.lean[net.from] : 0;
    }

    function entryShift(scope, net, child, result) {
      const inner = scope.find(child, net.owner);
      return inner && inner.from === NONE ? inner.entryX - result.width[child] / 2 + result.lean[child] : 0;
    }

    // ---- order within rows

    /** Barycentre sweeps, the order with the fewest crossings wins. */
    function orderRows(grid) {
      const count = grid.row.length;
      const links = adjacency(grid, count);
      const position = new Float64Array(count);
      const number = (row) => row.forEach((element, at) => (position[element] = at));
      grid.links = links;
      // Ports first in the order of their sources: the scope around this one will mostly have them so as well.
      if (grid.entering) grid.rows[0].sort((a, b) => grid.net[a].owner - grid.net[b].owner);
      number(grid.rows[0]);
      for (let row = 1; row < grid.rows.length; row++) sortRow(grid, row, links.up, position);
      const limit = count > 6000 ? 2 : count > 1500 ? 4 : 8;
      let best = grid.rows.map((row) => row.slice());
      let fewest = crossings(grid, position);
      let stale = 0;
      for (let sweep = 0; sweep < limit && fewest > 0 && stale < 3; sweep++) {
        for (let row = grid.rows.length - 2; row >= 0; row--) sortRow(grid, row, links.down, position);
        for (let row = 1; row < grid.rows.length; row++) sortRow(grid, row, links.up, position);
        const now = crossings(grid, position);
        stale = now < fewest ? 0 : stale + 1;
        if (now < fewest) [fewest, best] = [now, grid.rows.map((row) => row.slice())];
      }
      grid.rows = best;
    }

    function adjacency(grid, count) {
      const up = Array.from({ length: count }, () => []);
      const down = Array.from({ length: count }, () => []);
      for (let at = 0; at < grid.upper.length; at++) {
        // Links of straight nets skip rows; they take no part in ordering.
        if (grid.row[grid.lower[at]] !== grid.row[grid.upper[at]] + 1) continue;
        up[grid.lower[at]].push(at);
        down[grid.upper[at]].push(at);
      }
      return { up, down };
    }

    function sortRow(grid, row, links, position) {
      const elements = grid.rows[row];
      const towards = links === grid.links.up ? grid.upper : grid.lower;
      const shift = links === grid.links.up ? grid.upperShift : grid.lowerShift;
      const wish = new Map();
      for (const element of elements) {
        const here = links[element];
        let sum = 0;
        for (const at of here) sum += position[towards[at]] + (0.9 * shift[at]) / grid.width[towards[at]];
        wish.set(element, here.length ? sum / here.length : NONE);
      }
      // Elements without a neighbour there keep their place among the others.
      const free = elements.filter((element) => wish.get(element) !== NONE || links[element].length);
      free.sort((a, b) => wish.get(a) - wish.get(b) || position[a] - position[b]);
      let next = 0;
      grid.rows[row] = elements.map((element) => (links[element].length ? free[next++] : element));
      grid.rows[row].forEach((element, at) => (position[element] = at));
    }

    /** Counts crossings of links between neighbouring rows with a Fenwick tree over the lower row. */
    function crossings(grid, position) {
      let total = 0;
      for (let row = 0; row + 1 < grid.rows.length; row++) {
        const size = grid.rows[row + 1].length;
        const tree = new Int32Array(size + 1);
        let seen = 0;
        for (const element of grid.rows[row]) {
          const ends = grid.links.down[element].map((at) => position[grid.lower[at]]).sort((a, b) => a - b);
          for (const end of ends) {
            let before = 0;
            for (let at = end + 1; at > 0; at -= at & -at) before += tree[at];
            total += seen - before;
          }
          for (const end of ends) {
            seen++;
            for (let at = end + 1; at <= size; at += at & -at) tree[at]++;
          }
        }
      }
      return total;
    }

    // ---- x

    /**
     * Middles of all elements: sweeps in which each row is fitted to its neighbours.
     *
     * Least absolute instead of least squared distance, since a median makes lines exactly straight where a mean
     * would leave them all slightly bent. A row is an isotonic regression: elements that would overlap form a block
     * that moves as one.
     */
    function placeX(grid) {
      const x = new Float64Array(grid.row.length);
      grid.x = x;
      for (const row of grid.rows) {
        let at = 0;
        row.forEach((element, index) => {
          at += index ? separation(grid, row[index - 1], element) : 0;
          x[element] = at;
        });
        for (const element of row) x[element] -= at / 2;
      }
      const rounds = grid.row.length > 6000 ? 2 : 5;
      for (let round = 0; round < rounds; round++) {
        for (let row = 1; row < grid.rows.length; row++) fitRow(grid, row, true, false);
        for (let row = grid.rows.length - 2; row >= 0; row--) fitRow(grid, row, false, true);
      }
      for (let row = 0; row < grid.rows.length; row++) fitRow(grid, row, true, true);
    }

    function separation(grid, left, right) {
      const bends = (grid.box[left] === NONE) + (grid.box[right] === NONE);
      return (grid.width[left] + grid.width[right]) / 2 + (bends === 2 ? 5 : bends === 1 ? 10 : 20);
    }

    function fitRow(grid, row, useUp, useDown) {
      const elements = grid.rows[row];
      const offsets = new Float64Array(elements.length);
      const blocks = [];
      for (let index = 0; index < elements.length; index++) {
        const element = elements[index];
        if (index) offsets[index] = offsets[index - 1] + separation(grid, elements[index - 1], element);
        let wishes = [];
        if (useUp) collect(grid, grid.links.up[element], grid.upper, grid.upperShift, grid.lowerShift, offsets[index], wishes);
        if (useDown) collect(grid, grid.links.down[element], grid.lower, grid.lowerShift, grid.upperShift, offsets[index], wishes);
        if (!wishes.length) wishes.push([grid.x[element] - offsets[index], 0.01]);
        let start = index;
        let middle = weightedMedian(wishes);
        for (let left = blocks[blocks.length - 1]; left && left.middle > middle; left = blocks[blocks.length - 1]) {
          blocks.pop();
          wishes = merged(left.wishes, wishes);
          start = left.start;
          middle = weightedMedian(wishes);
        }
        blocks.push({ start, wishes, middle });
      }
      blocks.forEach(({ start, middle }, at) => {
        const end = at + 1 < blocks.length ? blocks[at + 1].start : elements.length;
        for (let index = start; index < end; index++) grid.x[elements[index]] = middle + offsets[index];
      });
    }

    /** Wishes of two blocks as one; very many settle for their mean, which keeps a row of thousands linear. */
    function merged(first, second) {
      if (first.length + second.length <= MOST_WISHES) return first.concat(second);
      let [sum, weight] = [0, 0];
      for (const wishes of [first, second]) {
        for (const [place, pull] of wishes) [sum, weight] = [sum + place * pull, weight + pull];
      }
      return [[sum / weight, weight]];
    }

    function collect(grid, links, towards, theirShift, ownShift, offset, wishes) {
      for (const at of links) {
        wishes.push([grid.x[towards[at]] + theirShift[at] - ownShift[at] - offset, grid.weight[at]]);
      }
    }

    function weightedMedian(wishes) {
      if (wishes.length === 1) return wishes[0][0];
      wishes.sort((a, b) => a[0] - b[0]);
      let total = 0;
      for (const wish of wishes) total += wish[1];
      let sum = 0;
      for (let at = 0; at < wishes.length; at++) {
        sum += wishes[at][1];
        if (sum * 2 > total) return wishes[at][0];
        if (sum * 2 === total) return (wishes[at][0] + wishes[at + 1][0]) / 2;
      }
      return wishes[wishes.length - 1][0];
    }

    /** Gives runs of bends one x where their neighbours in the rows leave room for it: a line has as few steps as can be. */
    function straightenChains(grid) {
      const place = new Int32Array(grid.row.length);
      for (const row of grid.rows) row.forEach((element, at) => (place[element] = at));
      const room = (element) => {
        const row = grid.rows[grid.row[element]];
        const [left, right] = [row[place[element] - 1], row[place[element] + 1]];
        return [
          left === undefined ? -Infinity : grid.x[left] + separation(grid, left, element),
          right === undefined ? Infinity : grid.x[right] - separation(grid, element, right),
        ];
      };
      // A port right above or below a box stays in line with that box.
      const beside = new Set();
      grid.upper.forEach((upper, at) => {
        if (grid.box[upper] !== NONE) beside.add(grid.lower[at]);
        if (grid.box[grid.lower[at]] !== NONE) beside.add(upper);
      });
      const ends = new Set([grid.entering ? 0 : NONE, grid.leaving ? grid.rows.length - 1 : NONE]);
      const loose = (element) => grid.box[element] === NONE && !(ends.has(grid.row[element]) && beside.has(element));
      const chains = [...grid.chains.values()].map(({ chain }) => chain.filter(loose));
      // Twice: a line that moved may have made room for one beside it.
      for (const pass of [chains, chains.slice().reverse()]) {
        for (const chain of pass) {
          for (let start = 0; start < chain.length; ) start = straightenRun(grid, chain, start, room);
        }
      }
    }

    /** Straightens the longest run from `start` on that can have one x; returns where it ended. */
    function straightenRun(grid, chain, start, room) {
      let [low, high] = room(chain[start]);
      let end = start + 1;
      for (; end < chain.length; end++) {
        const [left, right] = room(chain[end]);
        if (Math.max(low, left) > Math.min(high, right)) break;
        [low, high] = [Math.max(low, left), Math.min(high, right)];
      }
      const now = chain.slice(start, end).map((element) => grid.x[element]).sort((a, b) => a - b);
      const wish = now[now.length >> 1];
      for (let at = start; at < end; at++) grid.x[chain[at]] = Math.min(high, Math.max(low, wish));
      return end;
    }

    /** Takes out the part of every empty column that is wider than it needs to be, and starts at 0. */
    function closeColumns(grid) {
      const order = Array.from(grid.x.keys()).sort((a, b) => grid.x[a] - grid.width[a] / 2 - (grid.x[b] - grid.width[b] / 2));
      let reach = null;
      let cut = 0;
      grid.extent = 0;
      const moved = new Float64Array(grid.x.length);
      for (const element of order) {
        const left = grid.x[element] - grid.width[element] / 2;
        if (reach === null) cut = left;
        else if (left - reach > EMPTY_COLUMN) cut += left - reach - EMPTY_COLUMN;
        reach = Math.max(reach ?? -Infinity, left + grid.width[element]);
        moved[element] = grid.x[element] - cut;
        grid.extent = Math.max(grid.extent, moved[element] + grid.width[element] / 2);
      }
      grid.x = moved;
    }

    // ---- y

    /** Tops and heights of rows; the port rows at either end are flat. */
    function placeY(grid, scope, result) {
      const count = grid.rows.length;
      const sidestep = new Float64Array(count);
      for (let at = 0; at < grid.upper.length; at++) {
        const [upper, lower] = [grid.upper[at], grid.lower[at]];
        const step = Math.abs(grid.x[upper] + grid.upperShift[at] - grid.x[lower] - grid.lowerShift[at]);
        sidestep[grid.row[upper]] = Math.max(sidestep[grid.row[upper]], step);
      }
      grid.top = new Float64Array(count);
      grid.depth = new Float64Array(count);
      let y = scope.box ? HEADER : PAD;
      for (let row = 0; row < count; row++) {
        for (const element of grid.rows[row]) {
          if (grid.box[element] !== NONE) grid.depth[row] = Math.max(grid.depth[row], result.height[grid.box[element]]);
        }
        grid.top[row] = y;
        const isPort = (grid.entering && row === 0) || (grid.leaving && row === count - 2);
        const least = isPort ? PORT_GAP : ROW_GAP;
        y += grid.depth[row] + (row + 1 < count ? least + Math.round(Math.min(MOST_GAP, WIDE_GAP * sidestep[row])) : 0);
      }
      grid.bottom = y;
    }

    /** Size of the scope's box, places of its children inside it, and of the ports on its border. */
    function finishScope(grid, scope, result) {
      const { box } = scope;
      // Whole, even numbers: lines are crisp, and sums are the same whatever they are made of.
      const width = 2 * Math.ceil(Math.max(result.width[box], grid.extent + 2 * PAD) / 2);
      const left = (width - grid.extent) / 2;
      result.width[box] = width;
      result.height[box] = Math.max(result.height[box], grid.bottom + PAD);
      for (let element = 0; element < grid.x.length; element++) {
        grid.x[element] = Math.round(grid.x[element] + left);
        const child = grid.box[element];
        if (child === NONE) continue;
        result.x[child] = grid.x[element] - result.width[child] / 2;
        result.y[child] = grid.top[grid.row[element]];
      }
      for (const [net, { chain, top }] of grid.chains) {
        if (net.from === NONE) net.entryX = grid.x[top];
        if (net.exits) net.exitX = grid.x[chain[chain.length - 1]];
      }
      const [enters, leaves] = [scope.nets.filter((net) => net.from === NONE), scope.nets.filter((net) => net.exits)];
      if (!enters.length || !leaves.length) return;
      const mean = (values) => values.reduce((sum, value) => sum + value, 0) / values.length;
      result.lean[box] = (mean(leaves.map((net) => net.exitX)) - mean(enters.map((net) => net.entryX))) / 2;
    }

    function placeAbsolutely(input, result) {
      for (let box = 1; box < input.parent.length; box++) {
        result.x[box] += result.x[input.parent[box]];
        result.y[box] += result.y[input.parent[box]];
      }
    }

    // ---- segments

    function drawSegments(input, tree, nets, scopes, result) {
      const pen = new Pen();
      const last = new Int32Array(input.source.length).fill(NONE);
      const arrivals = spreadArrivals(tree, nets, scopes, result);
      const edgesOf = new Map();
      for (let edge = 0; edge < last.length; edge++) {
        if (!nets.drawn[edge]) continue;
        if (!edgesOf.has(input.source[edge])) edgesOf.set(input.source[edge], []);
        edgesOf.get(input.source[edge]).push(edge);
      }
      const size = input.parent.length;
      for (const [owner, edges] of edgesOf) {
        const ends = new Map();
        drawNet(nets.find(tree.parent[owner], owner), NONE, { pen, tree, nets, scopes, result, arrivals, ends, size });
        for (const edge of edges) last[edge] = ends.get(input.target[edge]) ?? NONE;
      }
      drawBypasses(input, pen, last);
      return { ...pen.arrays(), last };
    }

    /** An edge past a box that is gone: the line to that box, straight through its place, and on along its line. */
    function drawBypasses(input, pen, last) {
      const size = input.parent.length;
      const edgeOf = new Map();
      input.source.forEach((from, edge) => edgeOf.set(from * size + input.target[edge], edge));
      input.via.forEach((via, edge) => {
        if (via === NONE) return;
        const [owner, to] = [input.source[edge], input.target[edge]];
        const arriving = last[edgeOf.get(owner * size + via)];
        const onward = [];
        for (let at = last[edgeOf.get(via * size + to)]; at !== NONE; at = pen.previous[at]) onward.unshift(at);
        // Copies, since each stands on sides of its own; what other readers share before the last bend stays shared.
        const copy = (at, previous) => pen.draw(pen.x1[at], pen.y1[at], pen.x2[at], pen.y2[at], owner, previous);
        const reached = copy(arriving, pen.previous[arriving]);
        const through = pen.draw(pen.x2[arriving], pen.y2[arriving], pen.x1[onward[0]], pen.y1[onward[0]], owner, reached);
        last[edge] = onward.reduce((previous, at) => copy(at, previous), through);
      });
    }

    class Pen {
      constructor() {
        this.x1 = []; this.y1 = []; this.x2 = []; this.y2 = []; this.owner = []; this.previous = [];
      }

      draw(x1, y1, x2, y2, owner, previous) {
        this.x1.push(x1); this.y1.push(y1); this.x2.push(x2); this.y2.push(y2); this.owner.push(owner);
        return this.previous.push(previous) - 1;
      }

      arrays() {
        return {
          x1: Float32Array.from(this.x1), y1: Float32Array.from(this.y1), x2: Float32Array.from(this.x2),
          y2: Float32Array.from(this.y2), owner: Int32Array.from(this.owner), previous: Int32Array.from(this.previous),
        };
      }
    }

    /** x at which each net meets each closed box, side by side in the order in which they come. */
    function spreadArrivals(tree, nets, scopes, result) {
      const arrivals = new Map();
      const size = tree.parent.length;
      for (let box = 0; box < size; box++) {
        const grid = scopes[box];
        if (!grid) continue;
        const perBox = new Map();
        for (const [net, { chain, top, straight }] of grid.chains) {
          for (const child of net.sinks) {
            const start = grid.row[top];
            const row = grid.row[grid.element[tree.place[child]]];
            const at = straight ? top : chain[Math.max(0, Math.min(row - 1 - start, chain.length - 1))];
            if (!perBox.has(child)) perBox.set(child, []);
            perBox.get(child).push([grid.x[at], net]);
          }
        }
        for (const [child, coming] of perBox) {
          coming.sort((a, b) => a[0] - b[0] || a[1].owner - b[1].owner);
          const step = coming.length > 1 ? Math.min(SPREAD, (result.width[child] - 24) / (coming.length - 1)) : 0;
          coming.forEach(([, net], at) => {
            const inner = nets.find(child, net.owner);
            const middle = result.x[child] + result.width[child] / 2 + Math.round((at - (coming.length - 1) / 2) * step);
            const port = inner && inner.from === NONE ? result.x[child] + inner.entryX : middle;
            arrivals.set(net.scope * size * size + net.owner * size + child, port);
          });
        }
      }
      return arrivals;
    }

    /** Draws one net of a scope and goes on into the scopes it enters or leaves to. */
    function drawNet(net, previous, context) {
      const { pen, tree, nets, scopes, result, arrivals, ends, size } = context;
      const grid = scopes[net.scope];
      const { chain, top } = grid.chains.get(net);
      const [left, up] = [result.x[net.scope], result.y[net.scope]];
      const rowBottom = (row) => up + grid.top[row] + grid.depth[row];
      const start = grid.row[top];
      let x = left + grid.x[top] + (net.from === NONE ? 0 : exitOf(net, nets, result));
      let y = net.from === NONE ? up : result.y[net.from] + result.height[net.from];
      const tips = [];
      const go = (toX, toY) => {
        if (toX === x && toY === y) return;
        previous = pen.draw(x, y, toX, toY, net.owner, previous);
        [x, y] = [toX, toY];
      };
      go(x, rowBottom(start));
      tips.push([x, y, previous]);
      for (const bend of chain.slice(1)) {
        const isExit = net.exits && bend === chain[chain.length - 1];
        go(left + grid.x[bend], up + grid.top[grid.row[bend]]);
        go(x, isExit ? up + result.height[net.scope] : rowBottom(grid.row[bend]));
        tips.push([x, y, previous]);
      }
      const exit = previous;
      for (const child of net.sinks) {
        const row = grid.row[grid.element[tree.place[child]]];
        [x, y, previous] = tips[Math.max(0, Math.min(row - 1 - start, tips.length - 1 - (net.exits ? 1 : 0)))];
        go(arrivals.get(net.scope * size * size + net.owner * size + child), result.y[child]);
        ends.set(child, previous);
        const inner = nets.find(child, net.owner);
        if (inner && inner.from === NONE) drawNet(inner, previous, context);
      }
      if (net.exits) drawNet(nets.find(tree.parent[net.scope], net.owner), exit, context);
    }

    function exitOf(net, nets, result) {
      const inner = net.from === net.owner ? undefined : nets.find(net.from, net.owner);
      return inner ? inner.exitX - result.width[net.from] / 2 : 0;
    }

    return { layout };
  }

  const IN_WORKER = 500; // boxes from which a layout is worth the way to a worker and back
  const { layout } = layoutModule();

  /** Source text of a worker that answers `{id, input}` with `{id, output}`. */
  function workerSource() {
    return `"use strict";const api=(${layoutModule})();onmessage=(event)=>{` +
      "const output=api.layout(event.data.input);" +
      "postMessage({id:event.data.id,output},Object.values(output).map((array)=>array.buffer));};";
  }

  /** Runs layouts in a worker, or here where that is not allowed or not worth it. */
  class LayoutRunner {
    constructor(mode) {
      this.pending = new Map();
      this.next = 0;
      this.worker = null;
      this.refused = mode === "never";
    }

    run(input) {
      if (this.refused || input.parent.length < IN_WORKER) return layout(input);
      this._start();
      if (!this.worker) return layout(input);
      const id = this.next++;
      return new Promise((resolve) => {
        this.pending.set(id, { input, resolve });
        this.worker.postMessage({ id, input });
      });
    }

    _start() {
      if (this.worker) return;
      try {
        const url = URL.createObjectURL(new Blob([workerSource()], { type: "text/javascript" }));
        this.worker = new Worker(url);
        URL.revokeObjectURL(url);
      } catch (error) {
        if (!(error instanceof DOMException)) throw error;
        this._refuse(); // SecurityError: the page's policy
        return;
      }
      this.worker.onmessage = ({ data }) => {
        this.pending.get(data.id).resolve(data.output);
        this.pending.delete(data.id);
      };
      // A policy may also let the constructor pass and refuse only the script.
      this.worker.onerror = (event) => {
        event.preventDefault();
        this._refuse();
      };
    }

    _refuse() {
      this.refused = true;
      this.stop();
      for (const { input, resolve } of this.pending.values()) resolve(layout(input));
      this.pending.clear();
    }

    stop() {
      if (this.worker) this.worker.terminate();
      this.worker = null;
    }
  }

  root.FreezerGraph = Object.assign(root.FreezerGraph || {}, { layout, LayoutRunner });
})(globalThis);
