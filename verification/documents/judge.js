// What Chromium shows of each document: the words, the links, and those that have a label.
// `urls` are the URLs of our text part, which come back as Chromium writes them.
(documents) => {
  const word = /[wcst]\d+q/g
  const skipped = 'audio,canvas,math,object,select,svg,video,iframe,textarea,[aria-hidden="true" i],' +
    '[data-text="skip" i]'
  const seen = (visible) => visible.checkVisibility({ visibilityProperty: true })
  const absolute = (url) => { try { return new URL(url).href } catch { return url } }
  return documents.map(({ html, urls }) => {
    // Parsed without scripting, as mail programs do.
    const parsed = new DOMParser().parseFromString(html, 'text/html')
    const frame = document.createElement('iframe')
    document.body.replaceChildren(frame)
    const page = frame.contentDocument
    page.replaceChild(page.adoptNode(parsed.documentElement), page.documentElement)
    for (const one of page.querySelectorAll(skipped)) {
      one.style.setProperty('display', 'none', 'important')
    }
    const words = page.body.innerText.match(word) ?? []
    for (const image of page.querySelectorAll('img')) {
      if (seen(image)) words.push(...(image.alt.match(word) ?? []))
    }
    const links = [...page.querySelectorAll('a[href]')]
      .filter((link) => seen(link) && !link.href.startsWith('javascript:'))
    const labelled = links.filter((link) => link.innerText.match(word) ||
      [...link.querySelectorAll('img')].some((image) => seen(image) && image.alt.match(word)))
    const hrefs = (list) => list.map((link) => link.href)
    return { words, links: hrefs(links), labelled: hrefs(labelled), urls: urls.map(absolute) }
  })
}
