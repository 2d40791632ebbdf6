// A table of any length: only the rows in view are in the page. All text is set as text.
(() => {
  const HEIGHT = 28
  const data = JSON.parse(document.getElementById("data").textContent)
  const tested = data.some((cells) => cells[2] !== null)
  const HEAD = ["rank", "column", document.getElementById("grid").dataset.score, ...(tested ? ["p", "adjusted p"] : []), "why"]
  const rows = data.map((cells, index) => ({
    rank: index + 1,
    cells,
    text: cells[0].toLowerCase(),
    keys: [index + 1, ...cells.slice(0, tested ? 4 : 2), cells[5]],
  }))
  const grid = document.getElementById("grid")
  const search = document.getElementById("search")
  const cut = document.getElementById("cut")
  const kept = document.getElementById("kept")
  const status = document.getElementById("status")
  const names = document.getElementById("names")
  const line = document.getElementById("line")
  const bars = [...document.querySelectorAll("svg .bar")]
  let shown = rows
  let sortBy = 0
  let direction = 1

  const element = (tag, name, text) => {
    const made = document.createElement(tag)
    if (name) made.className = name
    if (text !== undefined) made.textContent = text
    return made
  }
  const number = (value) => {
    if (value === null) return ""
    const tiny = value !== 0 && Math.abs(value) < 1e-4
    return tiny ? value.toExponential(2) : String(Number(value.toPrecision(4)))
  }

  const head = element("div", "row head")
  head.setAttribute("role", "row")
  HEAD.forEach((title, column) => {
    const cell = element("span")
    cell.setAttribute("role", "columnheader")
    const button = element("button", "", title)
    button.addEventListener("click", () => {
      direction = sortBy === column ? -direction : 1
      sortBy = column
      update()
    })
    cell.append(button)
    head.append(cell)
  })
  const body = element("div", "body")
  if (tested) grid.className = "tested"
  grid.append(head, body)

  const compare = (a, b) => {
    const [x, y] = [a.keys[sortBy], b.keys[sortBy]]
    if (x === null || y === null) return (x === null) - (y === null) || a.rank - b.rank
    const order = typeof x === "string" ? x.localeCompare(y) : x - y
    return direction * order || a.rank - b.rank
  }

  const drawRow = (row, place) => {
    const line = element("div", row.rank <= Number(cut.value) ? "row kept" : "row")
    line.setAttribute("role", "row")
    line.style.cssText = `position:absolute;left:0;right:0;top:${place * HEIGHT}px`
    const [name, score, p, adjusted, , why] = row.cells
    const tests = tested ? [number(p), number(adjusted)] : []
    const cells = [String(row.rank), name, number(score), ...tests, why]
    cells.forEach((text, column) => {
      const cell = element(column === 1 ? "bdi" : "span", "", text)
      cell.setAttribute("role", "cell")
      cell.title = text
      line.append(cell)
    })
    return line
  }

  const draw = () => {
    body.style.height = `${shown.length * HEIGHT}px`
    const first = Math.max(0, Math.floor(grid.scrollTop / HEIGHT) - 5)
    const last = Math.min(shown.length, first + Math.ceil(grid.clientHeight / HEIGHT) + 10)
    body.replaceChildren(...shown.slice(first, last).map((row, j) => drawRow(row, first + j)))
  }

  const cutChanged = () => {
    const count = Number(cut.value)
    kept.textContent = `${count} kept`
    cut.setAttribute("aria-valuetext", `${count} columns kept`)
    names.textContent = rows.slice(0, count).map((row) => row.cells[0]).join("\n")
    bars.forEach((bar, place) => bar.setAttribute("class", place < count ? "bar in" : "bar out"))
    if (line) line.setAttribute("transform", `translate(${16 * Math.min(count, bars.length) + 1} 0)`)
    draw()
  }

  const update = () => {
    const wanted = search.value.toLowerCase()
    shown = rows.filter((row) => row.text.includes(wanted)).sort(compare)
    ;[...head.children].forEach((cell, column) => {
      const order = direction > 0 ? "ascending" : "descending"
      cell.setAttribute("aria-sort", column === sortBy ? order : "none")
    })
    grid.setAttribute("aria-rowcount", String(shown.length + 1))
    status.textContent = `${shown.length} of ${rows.length} columns shown`
    grid.scrollTop = 0
    draw()
  }

  grid.addEventListener("scroll", draw)
  search.addEventListener("input", update)
  cut.addEventListener("input", cutChanged)
  window.addEventListener("beforeprint", () => {
    body.style.height = "auto"
    body.replaceChildren(...shown.slice(0, 100).map((row, j) => {
      const line = drawRow(row, j)
      line.style.cssText = ""
      return line
    }))
  })
  window.addEventListener("afterprint", draw)
  update()
  cutChanged()
})()
