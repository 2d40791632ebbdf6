// Uses the report as a person would, by mouse and by keyboard, and leaves the outcome in the page.
const outcome = { errors: [], requests: 0, alerts: 0 }
window.addEventListener("error", (event) => outcome.errors.push(String(event.message)))
const logged = console.error
console.error = (...words) => { outcome.errors.push(words.join(" ")); logged(...words) }
window.alert = () => { outcome.alerts += 1 }

const channels = (colour) => {
  const numbers = colour.match(/[\d.]+/g).map(Number)
  return colour.startsWith("color(") ? [...numbers.slice(0, 3).map((c) => 255 * c), numbers[3]] : numbers
}
const over = (front, back) => {
  const alpha = front[3] === undefined ? 1 : front[3]
  return [0, 1, 2].map((j) => alpha * front[j] + (1 - alpha) * back[j])
}
const behind = (node) => {
  if (!node) return [255, 255, 255]
  return over(channels(getComputedStyle(node).backgroundColor), behind(node.parentElement))
}
const light = (colour) => {
  const [r, g, b] = colour.map((c) => (c / 255 <= 0.04045 ? c / 255 / 12.92 : ((c / 255 + 0.055) / 1.055) ** 2.4))
  return 0.2126 * r + 0.7152 * g + 0.0722 * b
}
const contrast = (node) => {
  const back = behind(node)
  const [low, high] = [light(over(channels(getComputedStyle(node).color), back)), light(back)].sort((a, b) => a - b)
  return (high + 0.05) / (low + 0.05)
}

window.addEventListener("load", () => {
  outcome.seconds = (performance.now() - 0) / 1000
  const status = () => document.getElementById("status").textContent
  const type = (text) => {
    const search = document.getElementById("search")
    search.value = text
    search.dispatchEvent(new Event("input"))
  }
  outcome.rows = status()
  type("c19000")
  outcome.searched = status()
  type("")
  const heads = document.querySelectorAll("#grid .head button")
  heads[2].click()
  const scores = [...document.querySelectorAll("#grid .body .row")].map((row) => Number(row.children[2].textContent))
  outcome.sorted = scores.length > 5 && scores.every((score, j) => j === 0 || scores[j - 1] <= score)
  outcome.announced = heads[2].parentElement.getAttribute("aria-sort")
  heads[0].click()
  const cut = document.getElementById("cut")
  cut.value = 3
  cut.dispatchEvent(new Event("input"))
  outcome.kept = document.querySelectorAll("#grid .kept").length
  outcome.bars = document.querySelectorAll("svg .bar.in").length
  outcome.names = document.getElementById("names").textContent.split("\n").length
  const controls = [...document.querySelectorAll("button, input, summary, #grid")]
  outcome.unreachable = controls.filter((node) => {
    node.focus()
    return document.activeElement !== node || node.tabIndex < 0
  }).length
  outcome.nameless = controls.filter((node) => {
    const label = node.closest("label") || node
    return !(label.textContent.trim() || node.getAttribute("aria-label"))
  }).length
  document.querySelector("details").open = true
  const texts = [...document.querySelectorAll("main *")].filter((node) =>
    !node.closest("svg, script") && [...node.childNodes].some((child) => child.nodeType === 3 && child.data.trim()))
  outcome.contrast = Math.min(...texts.map(contrast)) >= 4.5
  outcome.texts = texts.length > 50
  outcome.requests = performance.getEntriesByType("resource").length
  const result = document.createElement("pre")
  result.id = "probe"
  result.textContent = JSON.stringify(outcome)
  document.body.append(result)
})
