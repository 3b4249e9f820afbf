"""Pages for browsers: HTML that the server renders, with forms. Scripts add to them and are never needed to read.

To add a page:

1. Write a handler in a module of this package, and name it in :mod:`.routes`::

    @get("/games/{game_id:int}/NAME", include_in_schema=False, exception_handlers=ERRORS)
    async def NAME(visit: FromVisit, game_id: GameId) -> Response[Any]:
        return page(visit, "NAME.html", view=view_NAME(await look_at(visit, game_id, None)))

   The parameter ``visit: FromVisit`` (:mod:`.visit`) is who asks: ``visit.visitor`` says who it is, ``visit.ask`` sends
   a request of the protocol as the visitor, ``visit.look`` shows a game as the visitor may see it. A page learns of a
   game in no other way: the protocol's handlers, the views and the spectators' rules decide what a visitor may see.

2. What the page shows is computed in a module beside it (as ``game_view.py``), which tests call without HTTP.

3. Write ``templates/NAME.html``, which extends ``base.html``. ``macros.html`` has what pages share (players, clocks,
   results); :mod:`.words` has the words. Every page has the headers of :mod:`.rendering`, so there is no inline script
   and no inline style; data for a script is in ``data-`` attributes or in a JSON block (``json_block`` in the macros).

4. A form is posted with ``{{ forms.csrf(visitor) }}`` inside, and read by ``read_form`` (:mod:`.forms`), which refuses
   those of other sites. What acts as a player begins with ``visit = visit.acting()``, which makes a guest of somebody
   without a cookie, and ends with ``redirect(visit, to)``, which hands the cookie out.

5. A script is a file in ``static/``; ``{{ static("game.js") }}`` is its address. What the build brings there is in
   ``static/chessground/``, and ``has_board`` says whether it is there. ``make lint`` checks the types, which a script
   has in JSDoc, by ``tsconfig.json`` here; ``types/`` declares what the server sends.

A refusal of the protocol, raised in a handler, becomes a page that says it in words (:mod:`.error_pages`).
"""
