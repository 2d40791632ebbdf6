// Uses the report as a person would, and leaves the outcome in the page.
const outcome = { errors: [], requests: 0, alerts: 0 }
window.addEventListener("error", (event) => outcome.errors.push(String(event.message)))
window.alert = () => { outcome.alerts += 1 }
window.addEventListener("load", () => {
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
  heads[0].click()
  const cut = document.getElementById("cut")
  cut.value = 3
  cut.dispatchEvent(new Event("input"))
  outcome.kept = document.querySelectorAll("#grid .kept").length
  outcome.requests = performance.getEntriesByType("resource").length
  const result = document.createElement("pre")
  result.id = "probe"
  result.textContent = JSON.stringify(outcome)
  document.body.append(result)
})
